/* Recursion: Fibonacci, Ackermann with few arguments, quicksort, each lane another depth. */
#include "corpus.h"

#ifdef DEVICE_CODE
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ void quicksort(int *a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}

KERNEL recursion(int *out, int *data)
{
    int t = threadIdx.x;
    out[2 * t] = fib(t % 12);
    out[2 * t + 1] = ackermann(t % 2 + 1, t % 5);
    quicksort(data + t * 16, 0, 15);
}
#else
static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

CASE(recursion)
{
    int want[64], got[64], data[32 * 16], sorted[32 * 16];

    for (int i = 0; i < 32 * 16; i++)
        data[i] = (int)(random_u32() % 1000);
    device_ptr dout = zeros(sizeof want), dd = upload(data, sizeof data);
    RUN("recursion", 1, 32, &dout, &dd);
    for (int t = 0; t < 32; t++) {
        want[2 * t] = fib(t % 12);
        want[2 * t + 1] = t % 2 ? 2 * (t % 5) + 3 : t % 5 + 2;
        qsort(data + 16 * t, 16, 4, compare);
    }
    download(got, dout, sizeof got);
    expect_bytes(got, want, sizeof got);
    download(sorted, dd, sizeof sorted);
    expect_bytes(sorted, data, sizeof data);
}
#endif
