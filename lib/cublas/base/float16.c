/* float16.c - see float16.h. */
#include "cublas/base/float16.h"

#include <math.h>
#include <string.h>

/* The format of f16: a sign, five bits of exponent with a bias of 15, ten bits of fraction. */
#define FRACTION 10
#define ONE      (1u << FRACTION)
#define INFINITE 0x7c00u
#define NO_VALUE 0x7fffu /* the NaN of CUDA's conversions */

static float f16_read(unsigned bits)
{
    const unsigned exponent = bits >> FRACTION & 31, fraction = bits % ONE;
    float size = fraction == 0 ? INFINITY : NAN;

    if (exponent == 0)
        size = ldexpf((float)fraction, -24);
    else if (exponent < 31)
        size = ldexpf((float)(fraction + ONE), (int)exponent - 25);
    return bits >> 15 ? -size : size;
}

/* Returns the f16 bits of a magnitude. A fraction that is rounded up to 1 carries into the
 * exponent. */
static unsigned f16_of(float size)
{
    int exponent;
    float part;

    if (size >= 65520) /* halfway from the largest number to the next power of two */
        return INFINITE;
    if (size < 0x1p-14f) /* a multiple of 2^-24 */
        return (unsigned)nearbyintf(ldexpf(size, 24));
    part = frexpf(size, &exponent);
    return (unsigned)(exponent + 14) * ONE + (unsigned)nearbyintf(part * 2 * ONE) - ONE;
}

float float_of_16(uint16_t bits, cudaDataType type)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float x;

    if (type == CUDA_R_16F)
        return f16_read(bits);
    memcpy(&x, &wide, sizeof(x));
    return x;
}

uint16_t float_to_16(float x, cudaDataType type)
{
    uint32_t wide;

    if (isnan(x))
        return NO_VALUE;
    if (type == CUDA_R_16F)
        return (uint16_t)((signbit(x) ? 1u << 15 : 0) | f16_of(fabsf(x)));
    memcpy(&wide, &x, sizeof(wide));
    return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}
