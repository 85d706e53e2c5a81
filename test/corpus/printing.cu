/* printf from kernels: its result, and that it disturbs nothing. What it prints is the driver's matter. */
#include "corpus.h"

#ifdef DEVICE_CODE
#include <stdio.h>
KERNEL printing(int *out, const char *word)
{
    int t = threadIdx.x;
    if (t % 16 == 3)
        out[t] = printf("# thread %d of %s: %5.2f %llx %c %u%%\n", t, word, t * 0.5, 0x123456789abcull + t, 'a' + t, 7u);
    else
        out[t] = -t;
}
#else
CASE(printing)
{
    int want[32], got[32];
    device_ptr dout = zeros(sizeof want), word = upload("corpus", 7);

    for (int t = 0; t < 32; t++)
        want[t] = t % 16 == 3 ? 6 : -t;
    RUN("printing", 1, 32, &dout, &word);
    download(got, dout, sizeof got);
    expect_bytes(got, want, sizeof got);
}
#endif
