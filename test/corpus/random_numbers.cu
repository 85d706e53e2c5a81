/* Generators: xorwow and Philox; a Monte Carlo estimate of pi that must agree to the last hit. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL xorwow(unsigned *state, unsigned *out, int n)
{
    unsigned *s = state + INDEX * 6, x = s[0], y = s[1], z = s[2], w = s[3], v = s[4], d = s[5];
    for (int i = 0; i < n; i++) {
        unsigned t = x ^ x >> 2;
        x = y, y = z, z = w, w = v;
        v = v ^ v << 4 ^ (t ^ t << 1);
        d += 362437;
        out[INDEX * n + i] = v + d;
    }
}

KERNEL philox_pi(unsigned *hits, int n)
{
    unsigned count = 0;
    for (int i = 0; i < n; i++) {
        unsigned c[4] = {(unsigned)i, INDEX, 0, 0}, k0 = 0x1234, k1 = 0x5678;
        for (int r = 0; r < 10; r++) {
            unsigned h0 = __umulhi(0xd2511f53u, c[0]), l0 = 0xd2511f53u * c[0], h1 = __umulhi(0xcd9e8d57u, c[2]), l1 = 0xcd9e8d57u * c[2];
            c[0] = h1 ^ c[1] ^ k0, c[1] = l1, c[2] = h0 ^ c[3] ^ k1, c[3] = l0;
            k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
        }
        unsigned long long x = c[0] >> 8, y = c[1] >> 8;
        count += x * x + y * y < 1ull << 48;
    }
    atomicAdd(hits, count);
}
#else
CASE(random_numbers)
{
    enum { T = 64, N = 20 };
    int n = N, tries = 50;
    uint32_t state[6 * T], want[T * N], got[T * N], hits = 0, got_hits;

    for (int i = 0; i < 6 * T; i++)
        state[i] = random_u32();
    device_ptr ds = upload(state, sizeof state), dout = zeros(sizeof want), dh = zeros(4);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < N; i++) {
            uint32_t *s = state + 6 * t, x = s[0] ^ s[0] >> 2;
            memmove(s, s + 1, 16);
            s[4] = s[4] ^ s[4] << 4 ^ (x ^ x << 1);
            s[5] += 362437;
            want[t * N + i] = s[4] + s[5];
        }
    RUN("xorwow", 2, 32, &ds, &dout, &n);
    download(got, dout, sizeof got);
    expect_u32(got, want, T * N);

    for (uint32_t t = 0; t < 128; t++)
        for (uint32_t i = 0; i < 50; i++) {
            uint32_t c[4] = {i, t, 0, 0}, k0 = 0x1234, k1 = 0x5678;
            for (int r = 0; r < 10; r++) {
                uint64_t p = 0xd2511f53ull * c[0], q = 0xcd9e8d57ull * c[2];
                uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p};
                memcpy(c, next, sizeof c);
                k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
            }
            uint64_t x = c[0] >> 8, y = c[1] >> 8;
            hits += x * x + y * y < 1ull << 48;
        }
    RUN("philox_pi", 2, 64, &dh, &tries);
    download(&got_hits, dh, 4);
    expect_u32(&got_hits, &hits, 1);
}
#endif
