/*
 * announcements.h - reply queues that clients are about to make: each client announces its queue
 * first, so that the queue of one that is killed before it asks can be removed a second later.
 *
 * A ring of tokens, oldest first, and one timer. The supervisor's thread.
 */
#ifndef GS_SERVER_ANNOUNCEMENTS_H
#define GS_SERVER_ANNOUNCEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/base/loop.h"

#define ANNOUNCEMENTS_MAX 1024u

struct announcements {
    struct loop *loop;
    const char *instance;
    uint32_t first, count;
    struct timer timer;
    struct {
        uint64_t token, seen_ns;
    } entry[ANNOUNCEMENTS_MAX];
};

/* Initialises announcements that are all zero, or continues those of a former supervisor. The
 * caller keeps the instance's name valid. */
void announcements_init(struct announcements *announcements, struct loop *loop,
                        const char *instance);
/* Removes the queues that are still announced. Harmless on zeroed announcements. */
void announcements_deinit(struct announcements *announcements);
void announcement_add(struct announcements *announcements, uint64_t token);
/* Removes an announcement whose queue has been opened and its name removed. */
void announcement_remove(struct announcements *announcements, uint64_t token);

#endif
