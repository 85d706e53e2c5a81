// tensor_f16.cu - products on tensor cores of matrices of f16: see tensor.h.
#include "cublas/kernels/tensor.h"

TENSORS(tensor_f16, f16)
