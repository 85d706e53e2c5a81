/* siphash.c - see siphash.h. */
#include "common/siphash.h"

#include <endian.h>
#include <string.h>

struct state {
    uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void rounds(struct state *s, unsigned count)
{
    while (count-- > 0) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate(s->b, 13) ^ s->a;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a = rotate(s->a, 32) + s->d;
        s->c += s->b;
        s->d = rotate(s->d, 21) ^ s->a;
        s->b = rotate(s->b, 17) ^ s->c;
        s->c = rotate(s->c, 32);
    }
}

static inline void take(struct state *s, uint64_t word)
{
    s->d ^= word;
    rounds(s, 2);
    s->a ^= word;
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t size)
{
    /* "somepseudorandomlygeneratedbytes" */
    struct state s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                      key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    const unsigned char *bytes = data;
    uint64_t word;
    size_t i = 0;

    for (; size - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        take(&s, le64toh(word));
    }
    word = (uint64_t)size << 56;
    for (unsigned shift = 0; i < size; i++, shift += 8)
        word |= (uint64_t)bytes[i] << shift;
    take(&s, word);
    s.c ^= 0xff;
    rounds(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}
