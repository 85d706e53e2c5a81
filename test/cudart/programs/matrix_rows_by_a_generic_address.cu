// ldmatrix takes the rows' addresses as generic ones too, as kernels write it that have pointers into shared memory. In a
// fenced session it loads the same.
#include "show.h"
#include <stdlib.h>

enum { MATRICES = 4, SIDE = 8, LANES = 32 };

__global__ void fragments(unsigned *plain, unsigned *transposed)
{
    __shared__ __align__(16) unsigned short rows[MATRICES * SIDE][SIDE];
    unsigned lane = threadIdx.x, r[MATRICES];

    for (unsigned i = 0; i < SIDE; i++)
        rows[lane][i] = lane * SIDE + i;
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(rows[lane]) : "memory");
    for (unsigned m = 0; m < MATRICES; m++)
        plain[m * LANES + lane] = r[m];
    /* Sixteen lanes give addresses, one of them with an offset in the instruction. */
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%0, %1}, [%2+16];"
                 : "=r"(r[0]), "=r"(r[1]) : "l"(rows[lane % 16]) : "memory");
    for (unsigned m = 0; m < 2; m++)
        transposed[m * LANES + lane] = r[m];
}

static unsigned pair(unsigned low, unsigned high)
{
    return low | high << 16;
}

int main()
{
    static unsigned host[2][MATRICES * LANES];
    unsigned *device, wrong = 0;

    setenv("GSHARE_FENCE", "strict", 1);
    SHOW(cudaMalloc(&device, sizeof(host)));                              //> cudaMalloc(&device, sizeof(host)): cudaSuccess
    fragments<<<1, LANES>>>(device, device + MATRICES * LANES);
    SHOW(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost)); //> cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost): cudaSuccess
    for (unsigned m = 0; m < MATRICES; m++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned first = (m * SIDE + lane / 4) * SIDE + lane % 4 * 2;

            wrong += host[0][m * LANES + lane] != pair(first, first + 1);
        }
    for (unsigned m = 0; m < 2; m++)
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned first = (m * SIDE + 1 + lane % 4 * 2) * SIDE + lane / 4;

            wrong += host[1][m * LANES + lane] != pair(first, first + SIDE);
        }
    HOLDS(wrong == 0);                                                    //> wrong == 0: yes
}
