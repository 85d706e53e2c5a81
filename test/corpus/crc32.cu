/* CRC-32 of strings of different lengths, with a table built by the kernel in shared memory. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL crc32(const unsigned char *text, const int *start, unsigned *out, int n)
{
    __shared__ unsigned table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    int i = INDEX;
    if (i >= n)
        return;
    unsigned c = ~0u;
    for (const unsigned char *p = text + start[i]; p < text + start[i + 1]; p++)
        c = table[(c ^ *p) & 255] ^ c >> 8;
    out[i] = ~c;
}
#else
CASE(crc32)
{
    int n = 150, at = 0, *start = scratch(4 * (n + 1));
    unsigned char *text = scratch(n * 100);
    uint32_t *want = scratch(4 * n), *got = scratch(4 * n);

    for (int i = 0; i < n; i++) {
        uint32_t c = ~0u;
        for (unsigned k = random_u32() % 100; k; k--, at++) {
            text[at] = (unsigned char)random_u32();
            c ^= text[at];
            for (int b = 0; b < 8; b++)
                c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        }
        start[i + 1] = at;
        want[i] = ~c;
    }
    device_ptr dt = upload(text, (size_t)at), ds = upload(start, 4 * (n + 1)), dout = zeros(4 * n);
    RUN("crc32", 3, 64, &dt, &ds, &dout, &n);
    download(got, dout, 4 * n);
    expect_u32(got, want, n);
}
#endif
