/* reference.c - the CPU's answer, and the tables that both sides use. */
#include <math.h>

#include "resize.h"

/* IEC 61966-2-1, the transfer function of sRGB. */
static double light_of(double code)
{
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

static double code_of(double light)
{
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

/* 65,520 is 4,095 * 16: sixteen of the brightest, rounded, still index the last entry of encode. */
void tables_init(struct tables *tables)
{
    for (int i = 0; i < 256; i++)
        tables->linear[i] = (uint16_t)lround(light_of(i / 255.0) * 65520);
    for (int i = 0; i < 4096; i++)
        tables->encode[i] = (uint8_t)lround(code_of(i / 4095.0) * 255);
}

void reference_resize(const struct tables *tables, const uint8_t *in, uint8_t *out)
{
    for (unsigned y = 0; y < OUT_HEIGHT; y++) {
        for (unsigned x = 0; x < OUT_WIDTH; x++) {
            for (unsigned colour = 0; colour < 3; colour++) {
                uint32_t sum = 0;

                for (unsigned i = 0; i < 16; i++) {
                    unsigned from_x = x * 4 + i % 4, from_y = y * 4 + i / 4;
                    sum += tables->linear[in[(from_y * IN_WIDTH + from_x) * 3 + colour]];
                }
                out[(y * OUT_WIDTH + x) * 3 + colour] = tables->encode[(sum + 128) / 256];
            }
        }
    }
}
