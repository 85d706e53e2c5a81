// Integers of 128 bits have the host's sums, products, quotients and remainders.
#include "show.h"

typedef unsigned __int128 wide;

enum { PAIRS = 512, RESULTS = 6 };

__host__ __device__ static void work_out(wide *out, wide a, wide b)
{
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = a / b;
    out[4] = a % b;
    out[5] = (wide)((__int128)a / (__int128)b);
}

__global__ void work_all_out(wide *out, const wide *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    work_out(out + i * RESULTS, in[2 * i], in[2 * i + 1]);
}

static wide next_number(void)
{
    static unsigned long long state = 1;
    unsigned long long half[2];
    for (int i = 0; i < 2; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        half[i] = state ^ state >> 29;
    }
    return (wide)half[0] << 64 | half[1];
}

int main()
{
    static wide in[2 * PAIRS], got[PAIRS * RESULTS], wanted[PAIRS * RESULTS];
    wide *in_device, *out_device;
    int wrong = 0;

    for (int i = 0; i < PAIRS; i++) {
        in[2 * i] = next_number() >> i % 128;
        in[2 * i + 1] = next_number() >> i * 37 % 128 | 1;
        work_out(wanted + i * RESULTS, in[2 * i], in[2 * i + 1]);
    }
    MUST(cudaMalloc(&in_device, sizeof in));
    MUST(cudaMalloc(&out_device, sizeof got));
    MUST(cudaMemcpy(in_device, in, sizeof in, cudaMemcpyHostToDevice));
    work_all_out<<<PAIRS / 64, 64>>>(out_device, in_device);
    MUST(cudaMemcpy(got, out_device, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < PAIRS * RESULTS; i++)
        wrong += got[i] != wanted[i];
    printf("%d of %d are wrong\n", wrong, PAIRS * RESULTS); //> 0 of 3072 are wrong
    return 0;
}
