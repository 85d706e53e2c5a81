// tensor_bf16.cu - products on tensor cores of matrices of bf16: see tensor.h.
#include "cublas/kernels/tensor.h"

TENSORS(tensor_bf16, bf16)
