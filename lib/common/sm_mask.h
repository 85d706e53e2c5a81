/* sm_mask.h - sets of SMs, with the layout of gs_exec_affinity.sm_mask. Pure; any thread. */
#ifndef GS_COMMON_SM_MASK_H
#define GS_COMMON_SM_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gshare.h"

#define SM_MASK_SMS (GS_SM_MASK_WORDS * 64u)

struct sm_mask {
    uint64_t word[GS_SM_MASK_WORDS];
};

static inline struct sm_mask sm_mask_of(const uint64_t word[GS_SM_MASK_WORDS])
{
    struct sm_mask mask;

    memcpy(mask.word, word, sizeof(mask.word));
    return mask;
}

static inline void sm_mask_set(struct sm_mask *mask, uint32_t sm)
{
    mask->word[sm / 64] |= UINT64_C(1) << sm % 64;
}

/* Returns the set of SMs 0 to count - 1. */
static inline struct sm_mask sm_mask_first(uint32_t count)
{
    struct sm_mask mask = {{0}};

    for (uint32_t i = 0; i < count && i < SM_MASK_SMS; i++)
        sm_mask_set(&mask, i);
    return mask;
}

static inline bool sm_mask_has(const struct sm_mask *mask, uint32_t sm)
{
    return sm < SM_MASK_SMS && (mask->word[sm / 64] >> sm % 64 & 1);
}

static inline struct sm_mask sm_mask_and(struct sm_mask a, struct sm_mask b)
{
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        a.word[i] &= b.word[i];
    return a;
}

static inline struct sm_mask sm_mask_or(struct sm_mask a, struct sm_mask b)
{
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        a.word[i] |= b.word[i];
    return a;
}

/* Returns the SMs of a that are not in b. */
static inline struct sm_mask sm_mask_minus(struct sm_mask a, struct sm_mask b)
{
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        a.word[i] &= ~b.word[i];
    return a;
}

static inline bool sm_mask_empty(const struct sm_mask *mask)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        any |= mask->word[i];
    return any == 0;
}

static inline bool sm_mask_meets(const struct sm_mask *a, const struct sm_mask *b)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        any |= a->word[i] & b->word[i];
    return any != 0;
}

/* Returns true if b contains all of a. */
static inline bool sm_mask_within(const struct sm_mask *a, const struct sm_mask *b)
{
    uint64_t outside = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        outside |= a->word[i] & ~b->word[i];
    return outside == 0;
}

static inline bool sm_mask_equal(const struct sm_mask *a, const struct sm_mask *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline uint32_t sm_mask_count(const struct sm_mask *mask)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(mask->word[i]);
    return count;
}

/* Writes the set as a list such as "0-7,16"; "" for the empty set. A list that does not fit ends in
 * "...". Returns out. */
const char *sm_mask_print(char *out, size_t size, const struct sm_mask *mask);
/* Bytes that hold any text of sm_mask_print. */
#define SM_MASK_TEXT_MAX 1280u
/* Reads such a list. Returns false if the text is no list or names an SM from SM_MASK_SMS on. */
bool sm_mask_parse(struct sm_mask *mask, const char *text);

#endif
