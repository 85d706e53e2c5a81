/* Connected components by compare-and-swap on parents, with path halving. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ int find(int *parent, int v)
{
    while (parent[v] != v) {
        int up = parent[v];
        parent[v] = parent[up];
        v = up;
    }
    return v;
}

KERNEL unite(int *parent, const int *edges, int n)
{
    for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) {
        int a = edges[2 * i], b = edges[2 * i + 1];
        while (true) {
            a = find(parent, a);
            b = find(parent, b);
            if (a == b)
                break;
            if (a < b) {
                int t = a;
                a = b;
                b = t;
            }
            if (atomicCAS(&parent[a], a, b) == a)
                break;
        }
    }
}

KERNEL flatten(int *parent, int n)
{
    int i = INDEX;
    if (i < n) {
        int v = i;
        while (parent[v] != v)
            v = parent[v];
        parent[i] = v;
    }
}
#else
CASE(union_find)
{
    int n = 600, m = 500, *parent = scratch(4 * n), *edges = scratch(8 * m), *got = scratch(4 * n), changed = 1;

    for (int i = 0; i < n; i++)
        parent[i] = i;
    for (int i = 0; i < 2 * m; i++)
        edges[i] = (int)(random_u32() % (unsigned)n);
    device_ptr dp = upload(parent, 4 * n), de = upload(edges, 8 * m);
    RUN("unite", 2, 128, &dp, &de, &m);
    RUN("flatten", 5, 128, &dp, &n);
    while (changed) {
        changed = 0;
        for (int i = 0; i < m; i++) {
            int a = parent[edges[2 * i]], b = parent[edges[2 * i + 1]], low = a < b ? a : b;
            changed |= a != b;
            parent[edges[2 * i]] = parent[edges[2 * i + 1]] = low;
        }
    }
    download(got, dp, 4 * n);
    expect_bytes(got, parent, 4 * n);
}
#endif
