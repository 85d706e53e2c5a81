/* All shortest paths; a launch per intermediate node. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL relax(int *d, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        int through = d[y * n + k] + d[k * n + x];
        if (through < d[y * n + x])
            d[y * n + x] = through;
    }
}
#else
CASE(floyd_warshall)
{
    enum { N = 37 };
    int n = N, d[N * N], got[N * N];

    for (int i = 0; i < N * N; i++)
        d[i] = i / N == i % N ? 0 : random_u32() % 5 ? 1000000 : (int)(random_u32() % 100);
    device_ptr dd = upload(d, sizeof d);
    for (int k = 0; k < n; k++) {
        launch("relax", (struct size3){5, 5, 1}, (struct size3){8, 8, 1}, 0, ARGS(&dd, &n, &k));
        for (int i = 0; i < N * N; i++)
            if (d[i / N * N + k] + d[k * N + i % N] < d[i])
                d[i] = d[i / N * N + k] + d[k * N + i % N];
    }
    download(got, dd, sizeof got);
    expect_bytes(got, d, sizeof d);
}
#endif
