/* float16.h - converts numbers of 16 bits on the host: CUDA_R_16F, CUDA_R_16BF. */
#ifndef GS_CUBLAS_FLOAT16_H
#define GS_CUBLAS_FLOAT16_H

#include <stdint.h>

#include "cublas/abi.h"

float float_of_16(uint16_t bits, cudaDataType type);
/* Converts to 16 bits, and rounds to nearest, halves to even. */
uint16_t float_to_16(float x, cudaDataType type);

#endif
