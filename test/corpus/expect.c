/* expect.c - what cases of the corpus compare and draw, whoever runs them. */
#include "corpus.h"

static uint64_t random_state;

/* ---- Numbers ---- */

void random_restart(void)
{
    random_state = 1;
}

uint32_t random_u32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) ^ (uint32_t)(random_state >> 20);
}

float random_f32(float low, float high)
{
    return low + (high - low) * (float)(random_u32() >> 8) / 16777216.0f;
}

/* ---- Comparisons ---- */

void expect_bytes(const void *got, const void *want, size_t bytes)
{
    const unsigned char *g = got, *w = want;

    for (size_t i = 0; i < bytes; i++)
        if (g[i] != w[i])
            corpus_fail("byte %zu is 0x%02x, not 0x%02x", i, g[i], w[i]);
}

void expect_u32(const uint32_t *got, const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            corpus_fail("[%zu] is %u (0x%x), not %u (0x%x)", i, got[i], got[i], want[i], want[i]);
}

static bool is_close(double got, double want, double relative, double absolute)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    return got == want || fabs(got - want) <= absolute + relative * fabs(want);
}

void expect_f64(const double *got, const double *want, size_t n, double relative, double absolute)
{
    for (size_t i = 0; i < n; i++)
        if (!is_close(got[i], want[i], relative, absolute))
            corpus_fail("[%zu] is %.17g, not %.17g", i, got[i], want[i]);
}

void expect_f32(const float *got, const float *want, size_t n, double relative, double absolute)
{
    for (size_t i = 0; i < n; i++)
        if (!is_close((double)got[i], (double)want[i], relative, absolute))
            corpus_fail("[%zu] is %.9g, not %.9g", i, (double)got[i], (double)want[i]);
}
