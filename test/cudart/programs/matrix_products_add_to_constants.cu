// Constants stand among the elements of a matrix product in inline assembly: all sums, or some
// of a list.
#include <cuda_fp16.h>
#include "show.h"

// The unit matrix times a matrix of twos: two in each element, on top of the sums.
__global__ void add_to_floats(float *out)
{
    unsigned row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    __half2 diagonal = __halves2half2(__float2half(row == column), __float2half(row == column + 1));
    __half2 twos = __float2half2_rn(2.0f);
    unsigned a = *(unsigned *)&diagonal, b = *(unsigned *)&twos;
    float d[4], e[4], first = threadIdx.x;

    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%5}, {0f00000000,0f3F800000,0fBF000000,0f447A0000};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a), "r"(b));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,0}, {%5}, {%6,0f00000000,0fBF000000,%6};"
                 : "=f"(e[0]), "=f"(e[1]), "=f"(e[2]), "=f"(e[3])
                 : "r"(a), "r"(b), "f"(first));
    for (int i = 0; i < 4; i++) {
        out[threadIdx.x * 8 + i] = d[i];
        out[threadIdx.x * 8 + 4 + i] = e[i];
    }
}

__global__ void add_to_integers(int *out)
{
    int d[4];

    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,0}, {%4}, {0,-7,1048576,0};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(0x01010101));
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

int main()
{
    float *floats, f[256];
    int *integers, n[128];

    MUST(cudaMalloc(&floats, sizeof(f)));
    MUST(cudaMalloc(&integers, sizeof(n)));
    add_to_floats<<<1, 32>>>(floats);
    MUST(cudaMemcpy(f, floats, sizeof(f), cudaMemcpyDefault));
    printf("%g %g %g %g\n", f[0], f[1], f[2], f[3]);                 //> 2 3 1.5 1002
    printf("%g %g %g %g\n", f[248], f[249], f[250], f[251]);         //> 2 3 1.5 1002
    printf("%g %g %g %g\n", f[252], f[253], f[254], f[255]);         //> 33 2 -0.5 31
    add_to_integers<<<1, 32>>>(integers);
    MUST(cudaMemcpy(n, integers, sizeof(n), cudaMemcpyDefault));
    printf("%d %d %d %d\n", n[0], n[1], n[2], n[3]);                 //> 16 9 1048576 0
    printf("%d %d %d %d\n", n[124], n[125], n[126], n[127]);         //> 16 9 1048576 0
}
