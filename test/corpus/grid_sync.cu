/* Cooperative groups: grid.sync, tiles, coalesced groups.
 * clang-std: c++03: there cooperative_groups.h does without libcu++, which clang 14 does not take. */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

KERNEL rotate_sum(int *a, int *b, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    for (int r = 0; r < rounds; r++) {
        b[i] = a[i] + a[(i + 1) % n];
        grid.sync();
        a[i] = b[i] + b[(i + n - 1) % n];
        grid.sync();
    }
}

KERNEL tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int v = in[INDEX];
    for (int d = tile.size() / 2; d; d /= 2)
        v += tile.shfl_down(v, d);
    v = tile.shfl(v, 0);
    if (in[INDEX] & 1) {
        auto odd = cg::coalesced_threads();
        v += 1000 * (int)odd.size() + (int)odd.thread_rank();
    }
    out[INDEX] = v;
}
#else
CASE(grid_sync)
{
    int n = 4 * 64, rounds = 5;
    unsigned *a = scratch(4 * n), *b = scratch(4 * n), *got = scratch(4 * n);

    for (int i = 0; i < n; i++)
        a[i] = random_u32();
    device_ptr da = upload(a, 4 * n), db = zeros(4 * n);
    launch_cooperative("rotate_sum", (struct size3){4, 1, 1}, (struct size3){64, 1, 1}, 0, ARGS(&da, &db, &rounds));
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            b[i] = a[i] + a[(i + 1) % n];
        for (int i = 0; i < n; i++)
            a[i] = b[i] + b[(i + n - 1) % n];
    }
    download(got, da, 4 * n);
    expect_u32(got, a, n);

    for (int i = 0; i < n; i++)
        a[i] = random_u32() % 1000;
    da = upload(a, 4 * n), db = zeros(4 * n);
    RUN("tiles", 4, 64, &da, &db);
    for (int i = 0; i < n; i++) {
        unsigned sum = 0, odd = 0, rank = 0;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; k++)
            sum += a[k];
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            odd += a[k] & 1;
            rank += k < i && (a[k] & 1);
        }
        b[i] = sum + (a[i] & 1 ? 1000 * odd + rank : 0);
    }
    download(got, db, 4 * n);
    expect_u32(got, b, n);
}
#endif
