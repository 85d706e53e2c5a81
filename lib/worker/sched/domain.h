/*
 * domain.h - scheduling domains: the sessions of a domain share SMs and wait for each other; see
 * domain.c. Main lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_SCHED_DOMAIN_H
#define GS_WORKER_SCHED_DOMAIN_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* The most domains at a time. Sessions that would make up more share a domain with others. */
#define DOMAINS_MAX 128u

/* The domain in which the session waits. */
static inline struct sched *domain_of(const struct session *session)
{
    return session->sched.domain.sched;
}

/* The main lane's domains are numbered below domains_used(), which is at most DOMAINS_MAX. */
uint32_t domains_used(void);
struct sched *domain_at(uint32_t number);
/* The number of the session's domain. */
uint32_t domain_number(const struct session *session);

/* Begins with one domain and no sessions. Called before there are sessions. */
void domains_init(void);
/* Puts a new session, which has no work yet, into a domain. Any thread. */
void domain_join(struct session *session);
/* Adds a session that is polled from now on to those that may have work. */
void domains_add(struct session *session);
/* Notes that a session is no longer polled, or that the last work of one that is not has ended. */
void domains_idle(void);
/* Notes that a session has been granted other SMs. */
void domains_moved(void);
/* Forgets a session that is being closed or goes to another lane. */
void domains_remove(struct session *session);
/* Takes the session out of its domain, since it leaves its lane, and puts it into one of the lane
 * that it enters: a side lane has one domain for all its sessions, the main lane has those above.
 * domain_leave runs on the old lane, domain_enter on the new one. */
void domain_leave(struct session *session);
void domain_enter(struct session *session, uint32_t lane);
/* Brings the domains up to date. Called before a round, so that they stay the same during the
 * round. */
void domains_update(void);

/* true: each session's share goes by its weight; false: each session with an allowance goes at
 * once. */
void domains_set_weights(bool on);

#endif
