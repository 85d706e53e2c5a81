/*
 * fake_turn.h - what worker/turn.c asks of files other than those that note what is on the device,
 * for tests that play turns: a clock that is a number, and no jobs, reports or quiet moments.
 */
#ifndef GS_TEST_FAKE_TURN_H
#define GS_TEST_FAKE_TURN_H

#include <time.h>

#include "worker/drain.h"
#include "worker/job.h"
#include "worker/lane.h"
#include "worker/parked.h"
#include "worker/polling.h"
#include "worker/report.h"
#include "worker/request.h"
#include "worker/route.h"
#include "worker/stream.h"

static uint64_t now;

struct worker worker;
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

bool parked_hold(uint64_t time)
{
    (void)time;
    return false;
}

bool parked_pressing(void)
{
    return false;
}

void reports_poll(struct session *session)
{
    (void)session;
}

struct job *request_take(struct session *session)
{
    (void)session;
    return NULL;
}

void session_cool(struct session *session)
{
    (void)session;
}

bool session_seems_idle(const struct session *session)
{
    return session->flying == 0;
}

uint64_t stream_deadline(const struct session *session, uint32_t index)
{
    (void)session;
    (void)index;
    return 0;
}

#endif
