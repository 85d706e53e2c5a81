// What a texel's bytes mean: interp_texel.c. Pure functions.
#ifndef GS_SOFTCUDA_INTERP_TEXEL_H
#define GS_SOFTCUDA_INTERP_TEXEL_H

#include "softcuda/texel.h"

// The channels at AT: integers extended to 32 bits, floats and halves as a float's bits; 0 where a
// texel has none.
void texel_bits(const struct image *m, const uint8_t *at, uint32_t bits[4]);

// What texture T gives for channel C of a texel that holds BITS.
uint32_t texel_value(const struct texture *t, unsigned c, uint32_t bits);

// The mean of channel C of COUNT texels, 4 or the 8 of two slices, that hold BITS. The weights are
// 256ths, 256 together; where there is none, the texel's bits are 0.
enum { MOST_TEXELS = 8 };
uint32_t texel_mean(const struct texture *t, unsigned c, unsigned count,
                    const uint32_t bits[MOST_TEXELS][4], const unsigned weights[MOST_TEXELS]);

// A border's COLOUR in channel C as a texel of the texture holds it: what texel_bits would give.
uint32_t texel_border(const struct texture *t, unsigned c, float colour);

#endif
