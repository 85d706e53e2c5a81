/* A radix sort by one block, bit by bit, with ballots for the ranks. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL radix_sort(unsigned *data)
{
    __shared__ unsigned a[256], ones_of[8];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;

    a[t] = data[t];
    __syncthreads();
    for (int bit = 0; bit < 32; bit++) {
        unsigned key = a[t], one = key >> bit & 1;
        unsigned ballot = __ballot_sync(0xffffffffu, one);
        if (lane == 0)
            ones_of[warp] = __popc(ballot);
        __syncthreads();
        unsigned before = __popc(ballot & ((1u << lane) - 1)), all = 0;
        for (unsigned w = 0; w < 8; w++) {
            before += w < warp ? ones_of[w] : 0;
            all += ones_of[w];
        }
        unsigned to = one ? 256 - all + before : t - before;
        a[to] = key;
        __syncthreads();
    }
    data[t] = a[t];
}
#else
static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

CASE(radix_sort)
{
    uint32_t in[256], got[256];

    for (int i = 0; i < 256; i++)
        in[i] = random_u32();
    device_ptr d = upload(in, sizeof in);
    RUN("radix_sort", 1, 256, &d);
    qsort(in, 256, 4, compare);
    download(got, d, sizeof got);
    expect_u32(got, in, 256);
}
#endif
