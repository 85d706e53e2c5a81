/*
 * domain.h - scheduling domains: the sessions of a domain share SMs and wait for each other; see
 * domain.c. Called by the main lane, except where a comment says otherwise.
 */
#ifndef GS_WORKER_SCHED_DOMAIN_H
#define GS_WORKER_SCHED_DOMAIN_H

#include "worker/sched/lane.h"
#include "worker/session_parts.h"

/* The most domains at a time. Sessions that would need further domains share one with others. */
#define DOMAINS_MAX 128u

/* Returns the session's domain. */
static inline struct sched *domain_of(const struct session *session)
{
    return session->sched.domain.sched;
}

/* Returns the number of domains that the main lane's sessions use, at most DOMAINS_MAX. The domains
 * have the numbers below it. */
uint32_t domains_used(void);
struct sched *domain_at(uint32_t number);
/* Returns the number of the session's domain. */
uint32_t domain_number(const struct session *session);

/* Starts with one domain and no sessions. Called before there are sessions. */
void domains_init(void);
/* Puts a new session, which has no work yet, into a domain. Called by any thread. */
void domain_join(struct session *session);
/* Adds a session, which is polled from now on, to the list of sessions that may have work. */
void domains_add(struct session *session);
/* Notes that a session may be idle now: it is no longer polled, or the last work of an unpolled
 * session has ended. */
void domains_idle(void);
/* Notes that a session has been granted other SMs. */
void domains_moved(void);
/* Removes a session, which is being closed or given to another lane, from the sessions that may
 * have work. */
void domains_remove(struct session *session);
/* domain_leave takes a session that leaves its lane out of its domain, and domain_enter puts it
 * into a domain of the lane that it enters: a side lane has one domain for all its sessions, the
 * main lane has those above. domain_leave is called by the old lane, domain_enter by the new
 * one. */
void domain_leave(struct session *session);
void domain_enter(struct session *session, uint32_t lane);
/* Brings the domains up to date. Called once before each round, so that they do not change in
 * it. */
void domains_update(void);

/* Switches sharing by weight on or off. Off: each session that has an allowance issues at once. */
void domains_set_weights(bool on);

#endif
