/*
 * wait.h - which session another one's grant waits for, and the words for it. Changes nothing.
 *
 * A grant waits while another session may still run on SMs that are to be one's alone: so others
 * let go first, then the owner is given them. With the placer's rules that keeps waits from forming
 * a circle.
 */
#ifndef GS_SERVER_WAIT_H
#define GS_SERVER_WAIT_H

#include "server/state/session.h"

/* The session whose SMs this one waits for, or NULL. alone: grants_alone of the device, as a first
 * look. */
const struct session *wait_blocker(const struct session *session, const struct sm_mask *alone);
/* The session whose refused grant keeps this session's from being sent, or NULL. */
const struct session *wait_blamed(const struct session *session);
/* Says what the session waits for, which has asked for SMs and has no answer in time. */
void wait_describe(const struct session *session, char text[REFUSAL_TEXT_MAX]);

#endif
