/* A dense switch, a sparse one, goto, and breaks out of nested loops. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL switches(const int *in, int *out)
{
    int i = INDEX, x = in[i], r = 0, n = 0;
    switch (x) {
    case 0: r = 11; break;
    case 1: r = x * 7 + i; /* falls through */
    case 2: r += 13; break;
    case 3: r = i * i; break;
    case 4: r = -i; break;
    case 5: r = i ^ 0x55; break;
    case 6: r = i << 3; break;
    case 7: r = i / 3; break;
    case 8: r = i % 7; break;
    case 9: r = ~i; break;
    case 1000: r = 5; break;
    case -77: r = 6; break;
    default: r = -1;
    }
    for (int a = 0; a < 10; a++) {
        for (int b = 0; b < 10; b++) {
            if ((a * b + i) % 17 == 16)
                goto out;
            if (b > x)
                break;
            n++;
        }
    }
out:
    out[i] = r * 1000 + n;
}
#else
CASE(switches)
{
    enum { N = 256 };
    int in[N], want[N], got[N];

    for (int i = 0; i < N; i++) {
        int x = (int)(random_u32() % 12), r = 0, n = 0;
        x = in[i] = x == 10 ? 1000 : x == 11 ? -77 : i % 31 == 0 ? 555 : x;
        switch (x) {
        case 0: r = 11; break;
        case 1: r = x * 7 + i + 13; break;
        case 2: r = 13; break;
        case 3: r = i * i; break;
        case 4: r = -i; break;
        case 5: r = i ^ 0x55; break;
        case 6: r = i << 3; break;
        case 7: r = i / 3; break;
        case 8: r = i % 7; break;
        case 9: r = ~i; break;
        case 1000: r = 5; break;
        case -77: r = 6; break;
        default: r = -1;
        }
        for (int a = 0; a < 10; a++)
            for (int b = 0; b < 10; b++) {
                if ((a * b + i) % 17 == 16)
                    goto out;
                if (b > x)
                    break;
                n++;
            }
    out:
        want[i] = r * 1000 + n;
    }
    device_ptr din = upload(in, sizeof in), dout = zeros(sizeof want);
    RUN("switches", 4, 64, &din, &dout);
    download(got, dout, sizeof got);
    expect_bytes(got, want, sizeof got);
}
#endif
