// resize.cu - the demo's kernel: a photograph to a quarter of its width and height, each pixel the
// mean of 4 x 4 in linear light. Compiled to resize.ptx by `make ptx` (clang; no toolkit needed).
// All arithmetic is in integers, so that a CPU can check every pixel exactly (reference.c).
#include <stdint.h>

#include "../cuda_words.h"

// in: rows of packed RGB bytes, read as words: four pixels are three words.
// linear: the light of a byte, at most 65,520. encode: the byte of a mean light's upper 12 bits.
extern "C" __global__ void resize(const uint32_t *in, uint8_t *out, const uint16_t *linear,
                                  const uint8_t *encode, uint32_t out_width, uint32_t out_height)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
    uint32_t red = 0, green = 0, blue = 0;

    if (x >= out_width || y >= out_height)
        return;
    for (uint32_t row = 0; row < 4; row++) {
        const uint32_t *p = in + ((y * 4 + row) * out_width + x) * 3;
        uint32_t a = p[0], b = p[1], c = p[2]; // rgbr gbrg brgb, lowest byte first

        red += linear[a & 255] + linear[a >> 24] + linear[b >> 16 & 255] + linear[c >> 8 & 255];
        green += linear[a >> 8 & 255] + linear[b & 255] + linear[b >> 24] + linear[c >> 16 & 255];
        blue += linear[a >> 16 & 255] + linear[b >> 8 & 255] + linear[c & 255] + linear[c >> 24];
    }
    out += (y * out_width + x) * 3;
    out[0] = encode[(red + 128) >> 8];
    out[1] = encode[(green + 128) >> 8];
    out[2] = encode[(blue + 128) >> 8];
}
