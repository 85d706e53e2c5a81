// mma.sp multiplies the half of each row that metadata name, of halves and of whole numbers; in a fenced session too, in the
// midst of loads and stores that the fence writes anew.
#include "show.h"
#include <cuda_fp16.h>
#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 8, LANES = 32 };

// Of each row's four columns the second and the last are kept: 1 | 3 << 2, throughout.
constexpr unsigned SECOND_AND_LAST = 0xdddddddd;

// a: 16 x K / 2, by rows; b: K x 8, by columns; sums: 16 x 8, by rows.
__global__ void halves(const unsigned *a, const unsigned *b, float *sums)
{
    unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4; // K is 16: rows have four words of two
    float d[4] = {};

    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
                 "{%0, %1, %2, %3}, %8, 2;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[g * 4 + t]), "r"(a[(g + 8) * 4 + t]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]),
                   "r"(t == 2 ? SECOND_AND_LAST : 0x44444444));
    for (unsigned i = 0; i < 4; i++)
        sums[(g + i / 2 * 8) * COLUMNS + t * 2 + i % 2] = d[i];
}

__global__ void bytes(const unsigned *a, const unsigned *b, int *sums)
{
    unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4; // K is 64: rows have eight words of four
    int d[4] = {};

    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0;"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
                   "r"(b[g * 16 + t]), "r"(b[g * 16 + t + 4]), "r"(b[g * 16 + t + 8]), "r"(b[g * 16 + t + 12]),
                   "r"(SECOND_AND_LAST));
    for (unsigned i = 0; i < 4; i++)
        sums[(g + i / 2 * 8) * COLUMNS + t * 2 + i % 2] = d[i];
}

static int kept(int row, int e)
{
    return (row * 5 + e * 3) % 7 - 3;
}

static int right(int k, int column)
{
    return (k * 2 + column * 3) % 5 - 2;
}

template <class T, class U> static unsigned wrong(void (*product)(const unsigned *, const unsigned *, U *), int depth)
{
    struct {
        T a[ROWS][32], b[COLUMNS][64];
        U sums[ROWS][COLUMNS];
    } *m;
    unsigned count = 0;

    cudaMallocManaged(&m, sizeof(*m));
    T *a = &m->a[0][0], *b = &m->b[0][0];
    for (int i = 0; i < ROWS * depth / 2; i++)
        a[i] = T(kept(i / (depth / 2), i % (depth / 2)));
    for (int i = 0; i < COLUMNS * depth; i++)
        b[i] = T(right(i % depth, i / depth));
    product<<<1, LANES>>>((unsigned *)a, (unsigned *)b, &m->sums[0][0]);
    if (cudaDeviceSynchronize())
        return ~0u;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int sum = 0;

            for (int e = 0; e < depth / 2; e++)
                sum += kept(row, e) * right(e / 2 * 4 + (e % 2 ? 3 : 1), column);
            count += m->sums[row][column] != U(sum);
        }
    return count;
}

int main()
{
    setenv("GSHARE_FENCE", "strict", 1);
    HOLDS((wrong<__half, float>(halves, 16) == 0));   //> (wrong<__half, float>(halves, 16) == 0): yes
    HOLDS((wrong<signed char, int>(bytes, 64) == 0)); //> (wrong<signed char, int>(bytes, 64) == 0): yes
}
