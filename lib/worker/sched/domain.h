/* domain.h - who waits for the device with whom: those that share SMs; see domain.c. Dispatcher. */
#ifndef GS_WORKER_SCHED_DOMAIN_H
#define GS_WORKER_SCHED_DOMAIN_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* So many at a time; sessions that make up more of them wait with some of the others. */
#define DOMAINS_MAX 128u

struct domains {
    struct sched domain[DOMAINS_MAX + LANES_MAX]; /* the last ones: a lane's own each */
    uint32_t used;                                /* those at and beyond this are nobody's */
};
extern struct domains domains;

/* The one that the session waits in. */
static inline struct sched *domain_of(const struct session *session)
{
    return &domains.domain[session->sched.domain.index];
}

/* It is polled from now on: it may have work. */
void domains_add(struct session *session);
/* It is polled no longer, or the last of its work has ended since. */
void domains_idle(void);
/* Its SMs are others now. */
void domains_moved(void);
/* It is going. */
void domains_remove(struct session *session);
/* The session leaves its lane, and is in no line until it has come to another one: there it waits
 * with those of that lane, or, of the main lane, as above. Each on the lane that it is about. */
void domain_leave(struct session *session);
void domain_enter(struct session *session, uint32_t lane);
/* Brings the domains up to date. Before a round, so that they stay as they are in it. */
void domains_update(void);

/* Shares go by weight, or whoever has an allowance goes. */
void domains_set_weights(bool on);

#endif
