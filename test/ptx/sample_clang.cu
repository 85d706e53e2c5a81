#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
__device__ int counter = 3;
__device__ int *pointer = &counter;
__device__ __attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
typedef int (*step)(int);
__device__ step steps[2] = {fibonacci, fibonacci};
__global__ void sample(int *out, float *in, double *d, int n)
{
    __shared__ float tile[64];
    int t = __nvvm_read_ptx_sreg_tid_x();
    tile[t] = in[t];
    __syncthreads();
    in[t] = tile[63 - t] + __builtin_sqrtf(in[t + 1]);
    d[t] = d[t + 1] / d[t + 2];
    out[t] = steps[n & 1](n) + *pointer + __nvvm_atom_add_gen_i(out, 3);
    long local[10];
    for (int i = 0; i < 10; i++)
        local[i] = i * n;
    out[3] = local[n];
}
