/*
 * served.h - remembers in which order users were served. Where jobs of several users wait, the user
 * that was served longest ago is next, even if jobs of others have waited longer. So a user waits
 * for at most one job of each other user. The caller holds a lock of its own.
 */
#ifndef GS_WORKER_JOBS_SERVED_H
#define GS_WORKER_JOBS_SERVED_H

#include <stdint.h>

#define SERVED_MAX 64u /* users beyond these count as never served */

/* All zero: nobody was served. */
struct served {
    uint32_t uid[SERVED_MAX], count; /* users, the one served last first */
};

/* Returns how many users were served after this user last was. The greater the number, the longer
 * ago; `count`: never. */
uint32_t served_since(const struct served *served, uint32_t uid);
/* Notes that the user is served now. */
void served_note(struct served *served, uint32_t uid);

#endif
