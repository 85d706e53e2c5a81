/* Breadth-first search by frontiers, with compare-and-swap. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL bfs_step(const int *start, const int *to, int *level, int depth, int n, int *more)
{
    int v = INDEX;

    if (v >= n || level[v] != depth)
        return;
    for (int e = start[v]; e < start[v + 1]; e++)
        if (atomicCAS(&level[to[e]], -1, depth + 1) == -1)
            *more = 1;
}
#else
CASE(bfs)
{
    int n = 700, m = 0, *start = scratch(4 * (n + 1)), *to = scratch(4 * n * 4);
    int *want = scratch(4 * n), *got = scratch(4 * n), *queue = scratch(4 * n), more = 1;

    for (int v = 0; v < n; v++) {
        for (unsigned k = random_u32() % 4; k; k--)
            to[m++] = (int)(random_u32() % (unsigned)n);
        start[v + 1] = m;
        want[v] = -1;
    }
    want[0] = 0;
    device_ptr ds = upload(start, 4 * (n + 1)), dt = upload(to, 4 * m), dl = upload(want, 4 * n);
    for (int first = 0, last = 1; first < last; first++)
        for (int e = start[queue[first]]; e < start[queue[first] + 1]; e++)
            if (want[to[e]] < 0) {
                want[to[e]] = want[queue[first]] + 1;
                queue[last++] = to[e];
            }
    for (int depth = 0; more && depth < n; depth++) {
        device_ptr dm = zeros(4);
        RUN("bfs_step", 6, 128, &ds, &dt, &dl, &depth, &n, &dm);
        download(&more, dm, 4);
    }
    download(got, dl, 4 * n);
    expect_bytes(got, want, 4 * n);
}
#endif
