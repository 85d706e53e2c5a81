/*
 * setting_text.h - the fields of an operator's settings in one table of names, kinds and ranges,
 * which gsctl's options, the server's checks, its files and its limits share. Pure; any thread.
 */
#ifndef GS_COMMON_SETTING_TEXT_H
#define GS_COMMON_SETTING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/sm_mask.h"
#include "common/wire.h"

#define SETTING_TEXT_MAX SM_MASK_TEXT_MAX

/* The least memory limit: devices give memory in pieces of this size, so a lower limit would hold
 * nothing. */
#define SETTING_MEM_LEAST        UINT64_C(0x200000)
#define SETTING_INFLIGHT_MAX     4096u
#define SETTING_SESSIONS_MAX     4096u
#define SETTING_COUNT_MAX        1048576u
#define SETTING_SETS_MAX         128u
#define SETTING_COMPILE_MAX      6400u
#define SETTING_KERNEL_LIMIT_MAX 86400000u /* ms */

/* Returns the lower of two limits; 0 means no limit. */
static inline uint64_t limit_lower(uint64_t a, uint64_t b)
{
    return a && (b == 0 || a < b) ? a : b;
}

struct setting_field {
    uint32_t bit; /* enum ctl_field */
    const char *name;
    const char *values; /* the range, for people */
    enum setting_kind {
        SETTING_NUMBER,
        SETTING_PERCENT, /* in hundredths, "12.5" is 1250 */
        SETTING_BYTES,
        SETTING_MASK,
        SETTING_YES,
        SETTING_CLASS
    } kind;
    size_t offset;     /* in ctl_settings */
    uint64_t min, max; /* the range on any device; unused by SETTING_MASK */
};
/* All fields, in the order in which they are printed. */
extern const struct setting_field setting_fields[];
extern const size_t setting_field_count;

/* Returns the field of that name, or NULL. */
const struct setting_field *setting_find(const char *name);
/* Reads a field's value and marks the field as set. Returns false, and changes nothing, if `value`
 * is not of the field's kind. The server checks the range. */
bool setting_parse(struct ctl_settings *settings, const struct setting_field *field,
                   const char *value);
/* Returns the value of a field that is no SETTING_MASK. */
uint64_t setting_number(const struct ctl_settings *settings, const struct setting_field *field);
/* Copies the field's value, but not the bit that marks it as set. */
void setting_copy(struct ctl_settings *to, const struct setting_field *field,
                  const struct ctl_settings *from);
/* Returns true if the field's value is within the field's range. */
bool setting_possible(const struct ctl_settings *settings, const struct setting_field *field);
/* Writes the value in the form that setting_parse reads. Returns out. */
const char *setting_print(char out[SETTING_TEXT_MAX], const struct ctl_settings *settings,
                          const struct setting_field *field);

/* Returns "exact", "uniform", "half" or "weighted"; NULL for an unknown mode. */
const char *provision_name(uint32_t mode);
/* Returns the mode of that name; CTL_PROVISION_MODES if there is none. */
uint32_t provision_find(const char *name);
/* Returns "default", "user", "device", "reservation", "session" or "class"; "?" for an unknown
 * target. */
const char *target_name(uint32_t target);
/* Returns "normal", "latency" or "best-effort"; "?" for an unknown class. */
const char *class_name(uint32_t cls);

#endif
