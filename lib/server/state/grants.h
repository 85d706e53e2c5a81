/*
 * grants.h - brings what the placer decides to the worker, and keeps account of what holds.
 *
 * A session's `target` is decided, `sent` is on its way, `applied` is what the worker has
 * confirmed. Until a grant is confirmed the session may run on what either allows. A grant waits
 * while another session may still run on SMs that are to be one's alone: so others let go first,
 * then the owner is given them. One that is to be alone and has to wait leaves at once what it will
 * not have. With that, the placer's rules keep waits from forming a circle.
 */
#ifndef GS_SERVER_GRANTS_H
#define GS_SERVER_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"
#include "server/base/refusal.h"

struct device;
struct session;

/* A worker that waits for a moment without kernels gives up after ten seconds by itself. */
#define GRANT_PATIENCE_NS QOS_PATIENCE_NS

struct session_grant {
    struct link_grant target, sent, applied;
    struct sm_mask place; /* target's SMs, spelled out; empty: not placed */
    uint64_t sequence;    /* of the last one sent */
    bool constrained;     /* not simply on the whole device: counted in its device */
    bool outdated;        /* `target` has changed since `sent` was sent */
    bool awaited;         /* LINK_GRANTED for `sent` has not come */
    bool refused;         /* the worker could not do `sent`: tried again later */
    gs_status refusal_status;
    char refusal[REFUSAL_TEXT_MAX];
};

/* placement.c. Decides anew where all sessions of the device are to be; asker: whose request is new
 * (it may be one that has no place yet), or NULL. Sends nothing. On any status but GS_OK nothing
 * has changed. */
gs_status grants_place(struct device *device, struct session *asker, char text[REFUSAL_TEXT_MAX]);
/* Sends what can be sent: grants, and LINK_OPEN of sessions that have a place. */
void grants_pump(struct device *device);
/* Has all this soon, from the loop: for callers in the middle of something. */
void grants_soon(struct device *device);
/* The device's worker is ready: those who wait for it are placed in the next turns of the loop, in
 * the order in which they came; who cannot be is refused. */
void grants_ready(struct device *device);

/* The worker's answer. false: it makes no sense. */
bool grants_granted(struct session *session, const struct link_granted *granted, const char *text);
/* LINK_OPENED has confirmed the first grant. */
void grants_opened(struct session *session);
/* The session has no SMs any more. */
void grants_forget(struct session *session);

/* Adds the capped sessions of each group to load, and takes what is a session's alone out of room.
 */
void grants_load(const struct device *device, uint32_t *load, struct sm_mask *room);

/* All that was decided for it holds. */
bool grants_hold(const struct session *session);
/* Of all sessions of the device; counts those for whom it does not. */
uint32_t grants_open_count(const struct device *device);
/* What the session waits for, that has asked for SMs and has no answer in time. */
void grants_describe_wait(const struct session *session, char text[REFUSAL_TEXT_MAX]);
/* Whose refusal keeps this session's grant from being sent, or NULL. */
const struct session *grants_blamed(const struct session *session);
/* The SMs that the session has been given, spelled out; empty: none yet. */
struct sm_mask grants_sms(const struct session *session);
/* Those that its kernels keep until they are given others, whatever becomes of a grant that is on
 * its way. */
struct sm_mask grants_sure(const struct session *session);
/* Those that its kernels may still be given, too. exclusive: of these, those that are its alone. */
struct sm_mask grants_held(const struct session *session, bool exclusive);
/* Apart from their sequence. */
bool grant_same(const struct link_grant *a, const struct link_grant *b);

#endif
