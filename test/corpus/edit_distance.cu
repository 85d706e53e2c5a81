/* Levenshtein distance along anti-diagonals; a longest common subsequence per thread. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL edit_distance(const char *a, const char *b, int n, int m, int *out)
{
    __shared__ int d[3][128];
    int i = threadIdx.x;
    for (int s = 0; s <= n + m; s++) {
        int *now = d[s % 3], *one = d[(s + 2) % 3], *two = d[(s + 1) % 3], j = s - i;
        if (i <= n && j >= 0 && j <= m) {
            int v;
            if (i == 0 || j == 0) {
                v = i + j;
            } else {
                v = min(one[i - 1], one[i]) + 1;
                v = min(v, two[i - 1] + (a[i - 1] != b[j - 1]));
            }
            now[i] = v;
            if (i == n && j == m)
                *out = v;
        }
        __syncthreads();
    }
}
#else
CASE(edit_distance)
{
    int n = 90, m = 110, got, d[91][111];
    char a[90], b[110];

    for (int i = 0; i < n; i++)
        a[i] = (char)('a' + random_u32() % 3);
    for (int i = 0; i < m; i++)
        b[i] = (char)('a' + random_u32() % 3);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            int v = (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]) + 1, w = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = v < w ? v : w;
        }
    device_ptr da = upload(a, sizeof a), db = upload(b, sizeof b), dout = zeros(4);
    RUN("edit_distance", 1, 128, &da, &db, &n, &m, &dout);
    download(&got, dout, 4);
    expect_u32((uint32_t *)&got, (uint32_t *)&d[n][m], 1);
}
#endif
