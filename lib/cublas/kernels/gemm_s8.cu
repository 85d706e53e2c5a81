// gemm_s8.cu - matrices of s8: see gemm.h.
#include "cublas/kernels/gemm.h"

// clang-format off
GEMM(gemm_s8_s32,    signed char, int,    int,     64,  64, 16, 4, 4)
GEMM(gemm_s8_f32,    signed char, float,  float,   64,  64, 16, 4, 4)
// clang-format on
