/*
 * settings.h - the operator's settings: for all sessions, for users, for devices, and the
 * provisioning policy. (Settings for one session are in struct session.) The structs have no
 * pointers, because they are in the memory that outlives a supervisor (keeper.h).
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

/* A reservation: SMs set apart under a name. */
struct reservation {
    char name[32]; /* "": unused entry */
    int device;
    uint32_t sms;          /* a number of SMs, rounded up to whole groups; 0: `wanted` has the
                              SMs */
    struct sm_mask wanted; /* the SMs, if sms is 0 */
};

struct settings {
    struct ctl_settings everybody;
    struct user_settings user[SETTINGS_USERS_MAX]; /* by uid */
    uint32_t user_count;
    struct ctl_settings device[SETTINGS_DEVICES_MAX]; /* CTL_LATENCY_SMS only */
    struct ctl_settings cls[CLASSES];                 /* CTL_KERNEL_LIMIT only; from a policy
                                                         file */
    struct reservation reservation[SETTINGS_RESERVATIONS_MAX];
    uint32_t provision; /* enum ctl_provision_mode */
    uint32_t drained;   /* devices that take no new sessions: bit N is device N */
};

/* Returns the settings of the user, or of CTL_OTHERS; NULL: there are none. */
const struct ctl_settings *settings_find_user(const struct settings *settings, uid_t uid);
/* Returns a copy of the user's settings; with no field set if there are none. */
struct ctl_settings settings_of_user(const struct settings *settings, uid_t uid);
/* Replaces the user's settings, and removes the user if `set` has no field. Returns false if there
 * are too many users. */
bool settings_put_user(struct settings *settings, uid_t uid, const struct ctl_settings *set);
/* Returns `old` without the fields of unset, and with those of `set`. */
struct ctl_settings settings_merge(const struct ctl_settings *old, uint32_t unset,
                                   const struct ctl_settings *set);
/* Returns the index of a reservation, or SETTINGS_RESERVATIONS_MAX. */
uint32_t settings_find_reservation(const struct settings *settings, const char *name);
/* Returns whether the name has 1 to 31 characters of [A-Za-z0-9_.-]. */
bool reservation_name_valid(const char name[32]);

#endif
