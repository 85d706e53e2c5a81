/* Parameters by value: structs, arrays inside them indexed at run time, narrow types between wide ones. */
#include "corpus.h"

#ifdef DEVICE_CODE
struct inner {
    char tag;
    double weight;
    short pair[3];
};
struct packet {
    unsigned char first;
    inner list[4];
    float scale;
    long long big;
};

KERNEL struct_arguments(char a, short b, packet p, bool flag, double d, double *out)
{
    int t = threadIdx.x;
    const inner &x = p.list[t % 4];
    double r = a + b * 10 + p.first * 100 + x.tag + x.weight + x.pair[t % 3] * p.scale + (double)p.big;
    out[t] = flag ? r + d : r - d;
}
#else
struct inner {
    char tag;
    double weight;
    short pair[3];
};
struct packet {
    unsigned char first;
    struct inner list[4];
    float scale;
    long long big;
};

CASE(struct_arguments)
{
    char a = -5;
    short b = 300;
    bool flag = true;
    double d = 0.25, want[64], got[64];
    struct packet p;

    memset(&p, 0, sizeof p);
    p.first = 200, p.scale = 1.5f, p.big = -123456789012;
    for (int i = 0; i < 4; i++) {
        p.list[i].tag = (char)(i - 2);
        p.list[i].weight = i * 0.125;
        for (int k = 0; k < 3; k++)
            p.list[i].pair[k] = (short)(i * 10 - k);
    }
    device_ptr dout = zeros(sizeof want);
    for (int pass = 0; pass < 2; pass++, flag = false) {
        for (int t = 0; t < 64; t++) {
            const struct inner *x = &p.list[t % 4];
            double r = a + b * 10 + p.first * 100 + x->tag + x->weight + (double)((float)x->pair[t % 3] * p.scale) + (double)p.big;
            want[t] = flag ? r + d : r - d;
        }
        RUN("struct_arguments", 1, 64, &a, &b, &p, &flag, &d, &dout);
        download(got, dout, sizeof got);
        expect_f64(got, want, 64, 1e-12, 0);
    }
}
#endif
