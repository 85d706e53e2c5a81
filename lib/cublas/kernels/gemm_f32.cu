// gemm_f32.cu - matrices of f32: see gemm.h.
#include "cublas/kernels/gemm.h"

// clang-format off
GEMM(gemm_f32_wide,  float,       float,  float,  128, 128, 8, 8, 8)
GEMM(gemm_f32,       float,       float,  float,   32,  32, 16, 4, 4)
// clang-format on
