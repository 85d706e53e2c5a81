// Texels in device memory, as textures and surfaces see them: what the device tells the
// interpreter about an object that a kernel names by a handle.
//
// The device (array.c, texture.c) makes these and never changes one; the interpreter
// (interp_sample.c, interp_texel.c, interp_texture.c) reads them inside a turn. They say where
// texels should be, not that memory is still there: the interpreter checks that against its view.
#ifndef GS_SOFTCUDA_TEXEL_H
#define GS_SOFTCUDA_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cuda_abi.h"

struct image {
    uint64_t address, bytes;       // of the first texel; up to the end of the last
    uint64_t pitch, slice;         // bytes from row to row, from slice to slice
    uint32_t width, height, depth; // texels; depth also counts layers and faces; all at least 1
    CUarray_format format;
    uint8_t channels, channel_bytes, texel_bytes;
    uint8_t dims; // coordinates in a layer: of lines 1, of volumes 3
    bool layered; // depth is an index, not a coordinate
    bool cube;    // six faces one behind the other
};

// What a texture makes of a channel. Integers of 8 and 16 bits may be read as fractions of their
// largest value.
enum texel_reading { READ_BITS, READ_UNSIGNED, READ_SIGNED, READ_FLOAT };

struct texture {
    struct image image;
    enum texel_reading reading;
    CUaddress_mode address[3];
    bool linear;        // filter; else the nearest texel
    bool normalized;    // coordinates: 1 is the whole extent
    bool srgb;          // red, green and blue are decoded as they are read
    uint32_t border[4]; // as a texel holds it: interp_texel.h
};

#endif
