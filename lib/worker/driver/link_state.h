/*
 * link_state.h - what the supervisor has asked of each slot, and what it has been told: a
 * supervisor that takes the place of one that was killed asks for that (LINK_RESYNC).
 */
#ifndef GS_WORKER_DRIVER_LINK_STATE_H
#define GS_WORKER_DRIVER_LINK_STATE_H

#include "common/link.h"

/* Notes a message of the supervisor. Control thread. */
void link_heard(const struct link_message *message);
/* Sends a message to the supervisor, and notes it: what is noted is what has been sent. false: the
 * supervisor does not take it. Any thread. */
bool link_tell(const struct link_message *message, int descriptor);
/* Answers the LINK_RESYNC of that number. false: the supervisor does not take it. Control thread.
 */
bool link_resync(uint64_t number);

#endif
