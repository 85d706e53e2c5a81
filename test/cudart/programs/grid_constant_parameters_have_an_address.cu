// A parameter that is __grid_constant__ is read by its address, also in functions that are not inlined.
#include "show.h"

struct filter {
    float weight[12];
    short taps, shift;
    char name[3];
    const float *in;
    float *out;
};

__device__ __noinline__ float apply(const filter &f, int at)
{
    float sum = 0;

    for (int i = 0; i < f.taps; i++)
        sum += f.weight[(i + f.shift) % 12] * f.in[at + i];
    return sum;
}

__device__ __noinline__ int letters(const char *name)
{
    return name[0] * 10000 + name[1] * 100 + name[2];
}

__global__ void filtered(float scale, const __grid_constant__ filter f)
{
    const int t = threadIdx.x;
    const float *from = f.weight + t % 3;

    f.out[t] = scale * apply(f, t) + from[1];
    if (t == 31)
        f.out[t] = letters(f.name);
}

/* Its copy is the thread's own, one that is not constant too. */
__global__ void changed(filter f)
{
    f.weight[threadIdx.x % 12] = 100;
    f.out[threadIdx.x] = apply(f, 0);
}

int main()
{
    float *in, *out, host[64];
    filter f = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 1, {'a', 'b', 'c'}, nullptr, nullptr};

    MUST(cudaMalloc(&in, sizeof(host)));
    MUST(cudaMalloc(&out, sizeof(host)));
    for (int i = 0; i < 64; i++)
        host[i] = i;
    MUST(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
    f.in = in;
    f.out = out;
    filtered<<<1, 32>>>(0.5f, f);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", host[0], host[7], host[31]); //> 7.5 40 979899
    changed<<<1, 32>>>(f);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", host[0], host[2], host[14]); //> 11 108 108
    return 0;
}
