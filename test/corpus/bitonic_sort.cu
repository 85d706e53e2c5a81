/* A bitonic sort of a block in dynamic shared memory. */
#include "corpus.h"

#ifdef DEVICE_CODE
extern __shared__ unsigned keys[];

KERNEL bitonic_sort(unsigned *data)
{
    unsigned t = threadIdx.x;

    keys[t] = data[INDEX];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned d = size / 2; d; d /= 2) {
            unsigned other = t ^ d;
            if (other > t) {
                bool up = (t & size) == 0;
                unsigned a = keys[t], b = keys[other];
                if ((a > b) == up) {
                    keys[t] = b;
                    keys[other] = a;
                }
            }
            __syncthreads();
        }
    data[INDEX] = keys[t];
}
#else
static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

CASE(bitonic_sort)
{
    enum { N = 2048 };
    uint32_t in[N], got[N];

    for (int i = 0; i < N; i++)
        in[i] = random_u32() >> (i % 3 * 8);
    device_ptr d = upload(in, sizeof in);
    launch("bitonic_sort", (struct size3){N / 512, 1, 1}, (struct size3){512, 1, 1}, 512 * 4, ARGS(&d));
    for (int i = 0; i < N; i += 512)
        qsort(in + i, 512, 4, compare);
    download(got, d, sizeof got);
    expect_u32(got, in, N);
}
#endif
