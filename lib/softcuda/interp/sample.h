// The value of a texture at a point. Pure functions of the texture and its memory, which the caller
// has checked.
#ifndef GS_SOFTCUDA_INTERP_SAMPLE_H
#define GS_SOFTCUDA_INTERP_SAMPLE_H

#include "softcuda/texture/texel.h"

// A point in a texture has as many coordinates as the texture has dimensions, and a layer or face.
struct sample_point {
    unsigned dims;
    uint32_t layer;
    float at[3];   // of samples
    int32_t to[3]; // of fetches by index
    float level;   // of samples of a mipmapped array, before bias and bounds
    int32_t index; // of fetches: the level
};

// Four channels as registers hold them: floats, or integers where the texture reads as such.
// Channels that a texel lacks are 0.
void sample_nearest_or_linear(const struct texture *t, const struct sample_point *p,
                              uint32_t out[4]);
// Fetches by index: outside, also of the levels, all channels are 0.
void sample_fetch(const struct texture *t, const struct sample_point *p, uint32_t out[4]);
// The level at which a texel is as large as a step by one of two GRADIENTS, of which the longer one
// counts: of as many coordinates as the point has dimensions.
float sample_gradient_level(const struct texture *t, unsigned dims, float gradients[2][3]);
// CHANNEL of the four texels that a linear sample would mix: lower left, lower right, upper right,
// upper left.
void sample_gather(const struct texture *t, const struct sample_point *p, unsigned channel,
                   uint32_t out[4]);

// Finds the face of a cube in the direction AT, and the point in it. Its coordinates are
// normalized.
struct sample_point sample_cube_point(const float at[3]);
// Converts a GRADIENT of the direction AT to one of the point in its face, but for signs.
void sample_cube_gradient(const float at[3], float gradient[3]);

#endif
