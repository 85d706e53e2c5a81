// What the tests of textures and surfaces share: texels and their meaning on the CPU, arrays and
// objects made in one call, and a kernel around one instruction.
#ifndef TEXELS_H
#define TEXELS_H

#include "conform.h"

struct texels {
    CUarray_format format;
    unsigned channels;
    size_t width, height, depth; // at least 1; depth counts layers and faces
    unsigned char *data;         // rows of whole texels, one behind the other
};

unsigned format_size(CUarray_format format);
bool format_is_float(CUarray_format format);
const char *format_name(CUarray_format format);
size_t texel_size(const struct texels *t);
size_t texels_size(const struct texels *t); // of all
// Filled with numbers that depend on SEED; floats from -4 to 4. The caller frees data.
struct texels texels_random(CUarray_format format, unsigned channels, size_t width, size_t height,
                            size_t depth, unsigned seed);
// Channel C of the texel there, as an integer texture reads it: floats are not its business.
int64_t texel_integer(const struct texels *t, size_t x, size_t y, size_t z, unsigned c);
// The same as a texture of floats reads it: integers are fractions of their maximum.
double texel_number(const struct texels *t, size_t x, size_t y, size_t z, unsigned c);

// An array of D dimensions with T's texels; FLAGS may say that depth counts layers or faces.
CUarray array_of(const struct texels *t, unsigned dims, unsigned flags);
// The whole array's texels, to DATA.
void array_read(CUarray array, const struct texels *t, void *data);
CUtexObject texture_of(CUarray array, CUaddress_mode address, CUfilter_mode filter, unsigned flags);
CUtexObject texture_with(const CUDA_RESOURCE_DESC *resource, CUaddress_mode address,
                         CUfilter_mode filter, unsigned flags);
CUsurfObject surface_of(CUarray array);

// What one thread gives an instruction and gets from it. TEXT, which is PTX, finds the object in
// %t; the four words of `in` in %c0 to %c3 and, as floats, in %x, %y, %z, %w; those of `out` in %d0
// to %d3, which is where results go. %q0 to %q3 are spare registers of 64 bits, %h0 to %h3 of 16
// and %p of one.
union words {
    uint32_t u[4];
    int32_t s[4];
    float f[4];
};
CUresult run_result(const char *text, uint64_t object, const union words *in, union words *out,
                    unsigned count);
void run(const char *text, uint64_t object, const union words *in, union words *out,
         unsigned count);

double random_unit(void); // at least 0, less than 1; the same ones every time

#endif
