// Texels in device memory, as textures and surfaces see them: the device's description, for the
// interpreter, of an object that a kernel uses by a handle.
//
// The device (array.c, texture.c) makes these and never changes one; the interpreter
// (interp/sample.c, interp/texture.c) reads them inside a turn. They say where texels should be,
// not that memory is still mapped there: the interpreter checks that against its view.
//
// texel.c interprets the bytes of texels, for both, in pure functions.
#ifndef GS_SOFTCUDA_TEXTURE_TEXEL_H
#define GS_SOFTCUDA_TEXTURE_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"

struct image {
    uint64_t address, bytes;       // from the first texel to the end of the last, of all levels
    uint64_t pitch, slice;         // bytes from row to row, from slice to slice
    uint32_t width, height, depth; // texels; depth also counts layers and faces; all at least 1
    CUarray_format format;
    uint8_t channels, channel_bytes, texel_bytes;
    uint8_t dims;   // coordinates in a layer: of lines 1, of volumes 3
    bool layered;   // depth is an index, not a coordinate
    bool cube;      // six faces one behind the other
    uint8_t levels; // of a mipmapped array, whose first level the rest describes; else 1
};

// Sets pitch, slice and bytes of an image whose texels an array holds.
void image_lay_out(struct image *m);
// Returns level LEVEL of a mipmapped array: half as large as the level before in each coordinate,
// rounded down, at least one texel, and behind it in memory.
struct image image_level(const struct image *m, unsigned level);

// How a texture interprets a channel. Integers of 8 and 16 bits may be read as fractions of their
// largest value.
enum texel_reading { READ_BITS, READ_UNSIGNED, READ_SIGNED, READ_FLOAT };

struct texture {
    struct image image;
    enum texel_reading reading;
    CUaddress_mode address[3];
    bool linear;        // filter; otherwise the nearest texel
    bool normalized;    // coordinates: 1 is the whole extent
    bool srgb;          // red, green and blue are decoded from sRGB
    uint32_t border[4]; // as returned by texel_bits
    // These are for a mipmapped array. Levels are in 256ths.
    bool linear_levels;  // filter between two levels; else the nearest
    int32_t bias;        // added to a sample's level
    int32_t least, most; // bounds of the sum
};

// Reads the channels at AT: integers extended to 32 bits, floats and halves as a float's bits; 0
// where a texel has none.
void texel_bits(const struct image *m, const uint8_t *at, uint32_t bits[4]);

// The value of channel C in texture T for a texel that holds BITS.
uint32_t texel_value(const struct texture *t, unsigned c, uint32_t bits);

// Up to eight texels, whose weights are 256ths and 256 together. `used` is a set of them,
// one bit each: a NaN in it makes the mean a NaN, even where its weight is 0.
enum { MOST_TEXELS = 8 };

struct footprint {
    uint32_t bits[MOST_TEXELS][4];
    unsigned weights[MOST_TEXELS];
    unsigned used;
};

// The mean of channel C. Each four texels are a slice.
uint32_t texel_mean(const struct texture *t, unsigned c, const struct footprint *f);

// The mean of what two levels give for channel C: WEIGHT is the second's in 256ths.
uint32_t texel_mix(const struct texture *t, unsigned c, uint32_t first, uint32_t second,
                   unsigned weight);

// A border's COLOUR in channel C as a texel of the texture holds it: what texel_bits would give.
uint32_t texel_border(const struct texture *t, unsigned c, float colour);

#endif
