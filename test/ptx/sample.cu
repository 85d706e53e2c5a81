#include <cstdio>
struct Shape {
    virtual __device__ int area(int x) { return x; }
};
struct Square : Shape {
    int side;
    __device__ int area(int x) override { return side * x; }
};
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
typedef int (*step)(int);
__device__ step steps[2] = {fibonacci, fibonacci};
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int *pointer = &counter;
struct Big {
    int words[20];
    double last;
};
__device__ __noinline__ Big changed(Big b, int i)
{
    b.words[i]++;
    return b;
}
__global__ void __launch_bounds__(128, 2)
    sample(float *out, const float *in, int n, int which, Big big)
{
    extern __shared__ float dynamic[];
    __shared__ double fixed[32];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    dynamic[threadIdx.x] = in[t];
    fixed[threadIdx.x & 31] = in[t] * 2.0;
    __syncthreads();
    float a = dynamic[(threadIdx.x + 1) % blockDim.x] * table[t & 3] + (float)fixed[which & 31];
    a += __shfl_xor_sync(~0u, a, 1) + atomicAdd(&out[0], a);
    switch (which) {
    case 0:
        a += 1;
        break;
    case 1:
        a *= out[t];
        break;
    case 2:
        a = sqrtf(a);
        break;
    case 3:
        a = a / in[t + 1];
        break;
    case 4:
        out[3] = a;
        break;
    case 5:
        a = __popc(t);
        break;
    }
    Square s;
    s.side = n;
    Shape *shape = n > 3 ? &s : (Shape *)out;
    a += shape->area(3) + fibonacci(n) + steps[which & 1](n) + *pointer + changed(big, n).last;
    if (n == 77)
        printf("%d %f\n", n, a);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p bra DONE; trap; DONE: }" ::"r"(n));
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 9; @p bra DONE; exit; DONE: }" ::"r"(n));
    out[t] = a;
}
