// gemm_f64.cu - matrices of f64: see gemm.h.
#include "cublas/kernels/gemm.h"

// clang-format off
GEMM(gemm_f64_wide,  double,      double, double,  64,  64, 8, 4, 4)
GEMM(gemm_f64,       double,      double, double,  32,  32, 16, 4, 4)
// clang-format on
