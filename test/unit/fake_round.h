/*
 * fake_round.h - stands in for what worker/loop/round.c asks of other files, except the inflight
 * tracker, for tests that play rounds: a clock that is a number, and no jobs, reports or quiet
 * moments.
 */
#ifndef GS_TEST_FAKE_ROUND_H
#define GS_TEST_FAKE_ROUND_H

#include <time.h>

#include "worker/jobs/job.h"
#include "worker/loop/request.h"
#include "worker/loop/route.h"
#include "worker/sched/lane.h"
#include "worker/session/polling.h"
#include "worker/session/quiet.h"
#include "worker/session/trial.h"
#include "worker/submit/drain.h"
#include "worker/submit/report.h"
#include "worker/submit/stream.h"

static uint64_t now;

static struct lane lane;

int clock_gettime(clockid_t which, struct timespec *time)
{
    (void)which;
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                              .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

void job_begin(struct job *job)
{
    (void)job;
}

bool quiet_pauses(uint64_t time)
{
    (void)time;
    return false;
}

static uint64_t looked_at; /* how often a session was looked at for work that it waits to give */

bool trial_pauses(const struct session *session)
{
    (void)session;
    looked_at++;
    return false;
}

bool quiet_pressing(void)
{
    return false;
}

void reports_poll_some(struct session *session)
{
    (void)session;
}

static uint64_t request_ns; /* how long a request takes the lane */
static uint64_t requested;  /* sessions of which one was taken, by slot */
static uint32_t requests;   /* how many were */

struct job *request_take(struct session *session)
{
    now += request_ns;
    requested |= UINT64_C(1) << session->slot % 64;
    requests++;
    return NULL;
}

static uint64_t polls_ended; /* sessions that are not to be polled any more, by slot */

void session_poll_end(struct session *session)
{
    polls_ended |= UINT64_C(1) << session->slot % 64;
}

bool session_seems_idle(const struct session *session)
{
    return session->inflight.awaiting_fence == 0;
}

static uint64_t driver_asked; /* sessions that the driver was asked about, by slot */

bool streams_idle(struct session *session)
{
    driver_asked |= UINT64_C(1) << session->slot % 64;
    if (session->inflight.awaiting_fence == 0)
        session->inflight.by_word = 0;
    return session->inflight.awaiting_fence == 0;
}

uint64_t stream_deadline(const struct session *session, uint32_t index)
{
    (void)session;
    (void)index;
    return 0;
}

#endif
