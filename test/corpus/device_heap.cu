/* malloc and free in kernels: lists built by one launch and walked by the next. */
#include "corpus.h"

#ifdef DEVICE_CODE
struct node {
    node *next;
    int value;
};
__device__ node *heads[64];

KERNEL build(int most)
{
    int i = INDEX;
    node *head = nullptr;
    for (int k = 0; k < i % most; k++) {
        node *n = (node *)malloc(sizeof *n);
        if (!n)
            break;
        n->value = i * 100 + k;
        n->next = head;
        head = n;
    }
    heads[i] = head;
}

KERNEL walk(long long *out)
{
    int i = INDEX, place = 1;
    long long sum = 0;
    for (node *n = heads[i]; n;) {
        sum += (long long)n->value * place++;
        node *next = n->next;
        free(n);
        n = next;
    }
    out[i] = sum;
}
#else
CASE(device_heap)
{
    int most = 13;
    int64_t want[64], got[64];

    for (int i = 0; i < 64; i++) {
        int n = i % most;
        want[i] = 0;
        for (int k = n - 1, place = 1; k >= 0; k--, place++)
            want[i] += (int64_t)(i * 100 + k) * place;
    }
    device_ptr dout = zeros(sizeof want);
    RUN("build", 2, 32, &most);
    RUN("walk", 2, 32, &dout);
    download(got, dout, sizeof got);
    expect_bytes(got, want, sizeof got);
}
#endif
