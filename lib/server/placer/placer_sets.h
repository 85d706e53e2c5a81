/*
 * placer_sets.h - the table of the different sets of SMs that a device's sessions have, of which a
 * worker can hold LINK_SETS_MAX; and the choice of a set for a capped session. Pure, as placer.h.
 */
#ifndef GS_SERVER_PLACER_SETS_H
#define GS_SERVER_PLACER_SETS_H

#include "server/placer/placer.h"

/* The table also holds sets that have lost all users since the placing began. */
#define PLACER_SETS_KNOWN (2u * LINK_SETS_MAX)
#define PLACER_SETS_INDEX (2u * PLACER_SETS_KNOWN)

struct placer_set {
    struct sm_mask mask;
    uint32_t sms;
    uint32_t space; /* the space of its users */
    uint32_t users;
    uint32_t capped; /* users that count as load */
    bool pinned;     /* a user of the set can have no other */
    uint32_t groups;
    uint8_t group[PLACER_GROUPS_MAX];
};

/* The groups in a session's room, as a circle. It has only groups of the sizes of which the
 * session's sets consist. */
struct placer_circle {
    struct sm_mask room;
    uint32_t wanted; /* SMs; 0: not made yet */
    uint32_t sms;    /* SMs of an arc, rounded up */
    uint32_t groups; /* groups in the circle */
    uint32_t arc;    /* groups in an arc */
    uint32_t kinds;  /* different sizes of groups */
    /* for each kind: its size, and how many groups of it an arc has */
    uint16_t size[PLACER_GROUPS_MAX], quota[PLACER_GROUPS_MAX];
    /* for each position in the circle: the group, and the kind of its size */
    uint8_t group[PLACER_GROUPS_MAX], kind[PLACER_GROUPS_MAX];
};

struct placer_sets {
    const struct placer_device *device;
    uint32_t count;
    uint32_t used;                    /* sets with users */
    uint32_t load[PLACER_GROUPS_MAX]; /* capped sessions on each group */
    struct placer_set set[PLACER_SETS_KNOWN];
    uint16_t index[PLACER_SETS_INDEX]; /* from masks to numbers of sets, from 1 on */
    struct placer_circle circle;       /* the last one used */
};

void placer_sets_init(struct placer_sets *sets, const struct placer_device *device);
/* Counts one more session with this set. The whole device is no set, since it needs no partition.
 * capped: the session counts as load. pinned: it can have no other set. */
void placer_sets_join(struct placer_sets *sets, const struct sm_mask *mask, uint32_t space,
                      bool capped, bool pinned);
/* Returns whether the set is in use. */
bool placer_sets_has(const struct placer_sets *sets, const struct sm_mask *mask);
/* Retires a set whose users can move to others of the same size: of the size that has the most
 * sets, the set with the fewest users. Its users then have no set. Returns false if there is no
 * such set. */
bool placer_sets_retire(struct placer_sets *sets, struct sm_mask *mask);

/* Returns the set with the least load for a session that is to have `sms` SMs (rounded up to whole
 * groups) of `room`, which has more. A set in use is preferred to a new one whose load is a little
 * lower; the allowed difference grows with the number of sets in use, up to half a session in each
 * group. may_add: a new set may be made. Empty: there is none. */
struct sm_mask placer_sets_choose(struct placer_sets *sets, const struct sm_mask *room,
                                  uint32_t sms, bool may_add);

#endif
