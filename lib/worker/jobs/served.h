/*
 * served.h - in which order users are served: where jobs of several users wait, the user that was
 * served longest ago is next, even if jobs of others have waited longer. So a user waits for one
 * job of each other user at most. The caller holds a lock of its own.
 */
#ifndef GS_WORKER_JOBS_SERVED_H
#define GS_WORKER_JOBS_SERVED_H

#include <stdint.h>

#define SERVED_MAX 64u /* the others count as never served */

/* All zero: nobody was served. */
struct served {
    uint32_t uid[SERVED_MAX], count; /* the one served last first */
};

/* How many users were served after the user was; more: it was served longer ago, or never. */
uint32_t served_since(const struct served *served, uint32_t uid);
/* Notes that the user is served now. */
void served_note(struct served *served, uint32_t uid);

#endif
