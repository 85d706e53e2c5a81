/* lines.h - who waits for the device with whom: those that share SMs; see lines.c. Dispatcher. */
#ifndef GS_WORKER_LINES_H
#define GS_WORKER_LINES_H

#include "worker/lane.h"
#include "worker/worker.h"

/* So many at a time; sessions that make up more of them wait with some of the others. */
#define LINES_MAX 128u

struct lines {
    struct sched line[LINES_MAX + LANES_MAX]; /* the last ones: a lane's own each */
    uint32_t used;                            /* those at and beyond this are nobody's */
};
extern struct lines lines;

/* The one that the session waits in. */
static inline struct sched *line_of(const struct session *session)
{
    return &lines.line[session->member.line];
}

/* It is polled from now on: it may have work. */
void lines_enter(struct session *session);
/* It is polled no longer, or the last of its work has ended since. */
void lines_cool(void);
/* Its SMs are others now. */
void lines_moved(void);
/* It is going. */
void lines_forget(struct session *session);
/* The session leaves its lane, and is in no line until it has come to another one: there it waits
 * with those of that lane, or, of the main lane, as above. Each on the lane that it is about. */
void lines_part(struct session *session);
void lines_join(struct session *session, uint32_t lane);
/* Brings the lines up to date. Before a turn, so that they stay as they are in it. */
void lines_look(void);

/* Shares go by weight, or whoever has room goes. */
void lines_weights(bool on);

#endif
