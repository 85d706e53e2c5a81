/*
 * settings.h - what the operator has set: for everybody, for users, for how the device is shared
 * out. (What is set for one session lives and dies with its session.) Without pointers: it lies in
 * the memory that outlives a supervisor (keeper.h).
 */
#ifndef GS_SERVER_SETTINGS_H
#define GS_SERVER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/qos_class.h"
#include "common/sm_mask.h"
#include "common/wire.h"

#define SETTINGS_USERS_MAX        1024u
#define SETTINGS_DEVICES_MAX      8u
#define SETTINGS_RESERVATIONS_MAX 32u

struct user_settings {
    uid_t uid;
    struct ctl_settings set;
};

/* SMs set apart under a name. */
struct reservation {
    char name[32]; /* "": none here */
    int device;
    uint32_t sms;          /* a number of SMs, rounded up to whole groups; 0: `wanted` says which */
    struct sm_mask wanted; /* the SMs, where sms is 0 */
};

struct settings {
    struct ctl_settings everybody;
    struct user_settings user[SETTINGS_USERS_MAX]; /* by uid */
    uint32_t user_count;
    struct ctl_settings device[SETTINGS_DEVICES_MAX]; /* CTL_LATENCY_SMS only */
    struct ctl_settings cls[CLASSES];                 /* CTL_KERNEL_LIMIT only; of a policy file */
    struct reservation reservation[SETTINGS_RESERVATIONS_MAX];
    uint32_t provision; /* enum ctl_provision_mode */
    uint32_t drained;   /* devices that take no new sessions: bit N is device N */
};

/* Returns what is set for the user, or for CTL_OTHERS; or NULL. */
const struct ctl_settings *settings_find_user(const struct settings *settings, uid_t uid);
/* The same as a copy; without any field where nothing is set. */
struct ctl_settings settings_of_user(const struct settings *settings, uid_t uid);
/* Replaces what is set for the user; with no field set, forgets the user. false: too many users. */
bool settings_put_user(struct settings *settings, uid_t uid, const struct ctl_settings *set);
/* Returns `old` without the fields of unset, and with those of `set`. */
struct ctl_settings settings_merge(const struct ctl_settings *old, uint32_t unset,
                                   const struct ctl_settings *set);
/* Returns the index of a reservation, or SETTINGS_RESERVATIONS_MAX. */
uint32_t settings_find_reservation(const struct settings *settings, const char *name);
/* Whether the name has 1 to 31 characters of [A-Za-z0-9_.-]. */
bool reservation_name_valid(const char name[32]);

#endif
