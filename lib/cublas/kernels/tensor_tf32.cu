// tensor_tf32.cu - products on tensor cores of matrices of f32, as tf32: see tensor.h.
#include "cublas/kernels/tensor.h"

TENSORS(tensor_tf32, float)
