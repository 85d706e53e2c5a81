/* Atomics aggregated over the lanes that happen to be active; match over equal keys. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL filter(const int *in, int *out, int *count, int n)
{
    int i = INDEX;

    if (i >= n || in[i] % 3)
        return;
    unsigned active = __activemask(), leader = __ffs(active) - 1, lane = threadIdx.x % 32;
    int base = 0;
    if (lane == leader)
        base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    out[base + __popc(active & ((1u << lane) - 1))] = in[i];
}

KERNEL count_keys(const int *in, int *bins)
{
    int key = in[INDEX];
    unsigned same = __match_any_sync(0xffffffffu, key);

    if (__ffs(same) - 1 == threadIdx.x % 32)
        atomicAdd(&bins[key], __popc(same));
    int all;
    __match_all_sync(0xffffffffu, key, &all);
    if (all && threadIdx.x % 32 == 0)
        atomicAdd(&bins[16], 1);
}
#else
static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

CASE(aggregated_atomics)
{
    int n = 3000, count, kept = 0, *in = scratch(4 * n), *want = scratch(4 * n), *got = scratch(4 * n);
    int bins[17] = {0}, out[17];

    for (int i = 0; i < n; i++) {
        in[i] = (int)(random_u32() % 100000);
        if (in[i] % 3 == 0)
            want[kept++] = in[i];
    }
    device_ptr din = upload(in, 4 * n), dout = zeros(4 * n), dcount = zeros(4);
    RUN("filter", 12, 256, &din, &dout, &dcount, &n);
    download(&count, dcount, 4);
    download(got, dout, 4 * n);
    expect_u32((uint32_t *)&count, (uint32_t *)&kept, 1);
    qsort(want, (size_t)kept, 4, compare);
    qsort(got, (size_t)kept, 4, compare);
    expect_bytes(got, want, 4 * (size_t)kept);

    for (int i = 0; i < 256; i++)
        bins[in[i] = i / 32 == 3 ? 5 : (int)(random_u32() % 16)]++;
    bins[16] = 1;
    din = upload(in, 1024), dout = zeros(sizeof bins);
    RUN("count_keys", 2, 128, &din, &dout);
    download(out, dout, sizeof out);
    expect_bytes(out, bins, sizeof out);
}
#endif
