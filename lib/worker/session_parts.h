/*
 * session_parts.h - struct session, composed of one part for each folder. Each part belongs to the
 * folder that defines it. This header stands above the folders, so that no folder includes another
 * one for its part.
 */
#ifndef GS_WORKER_SESSION_PARTS_H
#define GS_WORKER_SESSION_PARTS_H

#include "worker/driver/worker.h"
#include "worker/jobs/session_jobs.h"
#include "worker/loop/session_round.h"
#include "worker/memory/session_memory.h"
#include "worker/module/session_module.h"
#include "worker/partition/session_kernels.h"
#include "worker/sched/session_grant.h"
#include "worker/sched/session_inflight.h"
#include "worker/sched/session_sched.h"
#include "worker/session/session_poll.h"
#include "worker/submit/session_placement.h"
#include "worker/submit/session_submit.h"
#include "worker/texture/session_texture.h"

struct journal;
struct journal_positions;
struct lane;
struct link_stats;
struct resume;
struct seg_client;
struct seg_request;
struct seg_server;
struct segment_mapping;

enum session_phase { SESSION_LIVE, SESSION_CLOSING };

struct session {
    /* The open job sets these; they stay constant. */
    uint32_t slot;
    uint32_t uid;
    int32_t pid; /* the tenant's, for people */
    uint64_t id;
    char name[32];   /* the tenant's, for people */
    char user[33];   /* the name of its user, for people */
    uint32_t fenced; /* its kernels are kept to its window (module/fenced.h): gs_fence; 0: not */
    struct segment_mapping *mapping;
    unsigned char *segment; /* the mapping's memory */
    struct seg_client *client;
    struct seg_server *server_page;
    struct seg_request *request;
    struct link_stats *stats;
    struct journal *journal;             /* NULL: none, and the session ends with its worker */
    struct journal_positions *positions; /* the journal's */
    enum session_phase phase;
    struct grant grant;
    struct session *next_closing; /* of the session table */
    uint64_t serial;              /* counts kernels and host blocks ever made */
    struct resume *resume;        /* while it is taken up from a lost worker; see resume.c */

    /* Which lane has the session: the main lane's to say. In a cache line without anything that a
     * lane writes while it serves the session. */
    _Alignas(64) struct lane *lane;
    bool elsewhere;            /* a lane beside the main one has it */
    _Atomic bool recalled;     /* the main lane wants the session back */
    struct session *lane_next; /* the next session on the way to a lane, or back */

    /* The lane's that the session belongs to, but where a part says otherwise. */
    _Alignas(64) struct session_round round;
    struct session_poll poll;
    struct session_placement placement;
    struct session_jobs jobs;
    struct session_inflight inflight;
    struct session_sched sched;
    struct session_submit submit;
    struct session_module module;
    struct session_kernels kernels;
    struct session_memory memory;
    struct session_texture texture;
};

/* Whether a side lane has the session. The main lane then touches nothing of the session that
 * belongs to its lane. Main lane. */
static inline bool session_elsewhere(const struct session *session)
{
    return session->elsewhere;
}

#endif
