/*
 * session_parts.h - struct session, the worker's state of one tenant session. Each folder of the
 * worker defines its own part of the struct; this header puts the parts together, so that no folder
 * includes another folder's files only for its part.
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
    /* Set by the job that opens the session, and constant afterwards. */
    uint32_t slot;
    uint32_t uid;
    int32_t pid; /* the tenant's process; only shown to people */
    uint64_t id;
    char name[32]; /* the tenant's name; only shown to people */
    char user[33]; /* the user's name; only shown to people */
    /* gs_fence: its kernels reach only its window (module/fenced.h); 0: not confined */
    uint32_t fenced;
    struct segment_mapping *mapping;
    unsigned char *segment; /* the mapping's memory */
    struct seg_client *client;
    struct seg_server *server_page;
    struct seg_request *request;
    struct link_stats *stats;
    struct journal *journal;             /* NULL: the session has none and ends with its worker */
    struct journal_positions *positions; /* the journal's */
    enum session_phase phase;
    struct grant grant;
    struct session *next_closing; /* the next in the session table's list of closing sessions */
    uint64_t serial;              /* the number of kernels and host blocks made so far */
    /* set while the session is resumed from a lost worker; see resume.c */
    struct resume *resume;

    /* Which lane has the session. Only the main lane decides that. These fields have a cache line
     * of their own, which holds nothing that a lane writes while it serves the session. */
    _Alignas(64) struct lane *lane;
    bool elsewhere;        /* a side lane has the session */
    _Atomic bool recalled; /* the main lane wants the session back */
    /* the next in a list of sessions handed to or back from a side lane */
    struct session *lane_next;

    /* The parts below belong to the lane that has the session, unless a part's header says
     * otherwise. */
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

/* Returns whether a side lane has the session. The main lane must not touch the session's
 * lane-owned parts then. Called by the main lane. */
static inline bool session_elsewhere(const struct session *session)
{
    return session->elsewhere;
}

#endif
