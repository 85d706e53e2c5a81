// What a texel's bytes mean: interp_texel.c. Pure functions.
#ifndef GS_SOFTCUDA_INTERP_TEXEL_H
#define GS_SOFTCUDA_INTERP_TEXEL_H

#include "softcuda/texel.h"

// The channels at AT: integers extended to 32 bits, floats and halves as a float's bits; 0 where a
// texel has none.
void texel_bits(const struct image *m, const uint8_t *at, uint32_t bits[4]);

// What texture T gives for channel C of a texel that holds BITS.
uint32_t texel_value(const struct texture *t, unsigned c, uint32_t bits);

// Up to eight texels, whose weights are 256ths and 256 together. Of those in the set `used`, a bit
// each, one that is no number makes the mean none even where its weight is 0.
enum { MOST_TEXELS = 8 };

struct footprint {
    uint32_t bits[MOST_TEXELS][4];
    unsigned weights[MOST_TEXELS];
    unsigned used;
};

// The mean of channel C. Each four texels are a slice.
uint32_t texel_mean(const struct texture *t, unsigned c, const struct footprint *f);

// A border's COLOUR in channel C as a texel of the texture holds it: what texel_bits would give.
uint32_t texel_border(const struct texture *t, unsigned c, float colour);

#endif
