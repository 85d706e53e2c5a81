// square.cu - the kernel of the program in README.md; square.ptx is made from it by `make ptx`.
#include "cuda_words.h"

extern "C" __global__ void square(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = i * i;
}
