/* A sparse matrix in CSR times a vector: a row per thread, a row per warp. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL spmv_rows(const int *start, const int *column, const float *value, const float *x, float *y, int rows)
{
    int r = INDEX;
    float sum = 0;

    if (r >= rows)
        return;
    for (int i = start[r]; i < start[r + 1]; i++)
        sum += value[i] * x[column[i]];
    y[r] = sum;
}

KERNEL spmv_warps(const int *start, const int *column, const float *value, const float *x, float *y, int rows)
{
    int r = INDEX / 32, lane = threadIdx.x % 32;
    float sum = 0;

    if (r >= rows)
        return;
    for (int i = start[r] + lane; i < start[r + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[r] = sum;
}
#else
CASE(spmv)
{
    int rows = 300, n = 0, *start = scratch(4 * (rows + 1)), *column = scratch(4 * rows * 60);
    float *value = scratch(4 * rows * 60), *x = scratch(4 * rows), *want = scratch(4 * rows), *got = scratch(4 * rows);

    for (int r = 0; r < rows; r++)
        x[r] = random_f32(-1, 1);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (unsigned k = random_u32() % 60; k; k--, n++) {
            column[n] = (int)(random_u32() % (unsigned)rows);
            value[n] = random_f32(-1, 1);
            sum += (double)value[n] * (double)x[column[n]];
        }
        start[r + 1] = n;
        want[r] = (float)sum;
    }
    device_ptr ds = upload(start, 4 * (rows + 1)), dc = upload(column, 4 * n), dv = upload(value, 4 * n),
               dx = upload(x, 4 * rows), dy = zeros(4 * rows);
    RUN("spmv_rows", 3, 128, &ds, &dc, &dv, &dx, &dy, &rows);
    download(got, dy, 4 * rows);
    expect_f32(got, want, rows, 1e-5, 1e-5);
    dy = zeros(4 * rows);
    RUN("spmv_warps", 75, 128, &ds, &dc, &dv, &dx, &dy, &rows);
    download(got, dy, 4 * rows);
    expect_f32(got, want, rows, 1e-5, 1e-5);
}
#endif
