// gemm_f16.cu - matrices of f16 and bf16, with sums of f32: see gemm.h.
#include "cublas/kernels/gemm.h"

// clang-format off
GEMM(gemm_f16,       f16,         f16,    float,   64,  64, 16, 4, 4)
GEMM(gemm_f16_f32,   f16,         float,  float,   64,  64, 16, 4, 4)
GEMM(gemm_bf16,      bf16,        bf16,   float,   64,  64, 16, 4, 4)
GEMM(gemm_bf16_f32,  bf16,        float,  float,   64,  64, 16, 4, 4)
// clang-format on
