/*
 * setting_text.h - what operators set, as text: one table of names and kinds, for gsctl's options
 * and for the server's state file. Pure; any thread.
 */
#ifndef GS_COMMON_SETTING_TEXT_H
#define GS_COMMON_SETTING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/sm_mask.h"
#include "common/wire.h"

#define SETTING_TEXT_MAX SM_MASK_TEXT_MAX

/* Of memory limits: the piece in which devices give memory, so less holds nothing. */
#define SETTING_MEM_LEAST    UINT64_C(0x200000)
#define SETTING_INFLIGHT_MAX 4096u

struct setting_field {
    uint32_t bit; /* enum ctl_field */
    const char *name;
    const char *values; /* for people */
    enum setting_kind {
        SETTING_NUMBER,
        SETTING_BYTES,
        SETTING_MASK,
        SETTING_YES,
        SETTING_CLASS
    } kind;
    size_t offset;     /* in ctl_settings */
    uint64_t min, max; /* on any device; of numbers and bytes */
};
/* All of them, in the order of their bits. */
extern const struct setting_field setting_fields[];
extern const size_t setting_field_count;

/* NULL: there is no such field. */
const struct setting_field *setting_find(const char *name);
/* Reads a field's value and marks it as set. false: it is none; nothing has changed. Whether it is
 * in its range, the server knows. */
bool setting_parse(struct ctl_settings *settings, const struct setting_field *field,
                   const char *value);
/* Could any device honour it? */
bool setting_possible(const struct ctl_settings *settings, const struct setting_field *field);
/* Writes the value as setting_parse reads it. Returns out. */
const char *setting_print(char out[SETTING_TEXT_MAX], const struct ctl_settings *settings,
                          const struct setting_field *field);

/* "exact", "uniform", "half", "weighted"; NULL beyond. */
const char *provision_name(uint32_t mode);
/* CTL_PROVISION_MODES: it is none. */
uint32_t provision_find(const char *name);
/* "default", "user", "device", "reservation", "session"; "?" beyond. */
const char *target_name(uint32_t target);
/* "normal", "latency", "best-effort"; "?" beyond. */
const char *class_name(uint32_t cls);

#endif
