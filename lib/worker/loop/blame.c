/*
 * blame.c - after the context is lost, finds the session at fault and ends the worker.
 *
 * The control thread runs this after every lane has stopped, so that it has all tables to itself.
 */
#include "worker/loop/blame.h"

#include <string.h>

#include "common/unfinished.h"
#include "common/util.h"
#include "worker/driver/wake.h"
#include "worker/jobs/job.h"
#include "worker/loop/lanes.h"
#include "worker/sched/completed.h"
#include "worker/sched/session_table.h"
#include "worker/submit/report.h"
#include "worker/submit/stream.h"

/* How long other sessions' work may go on after an eviction; longer kernels are interrupted. */
#define OTHERS_NS 50000000u

/* Returns whether any session has unfinished kernels. */
static bool kernels_any(void)
{
    const struct session *s = session_table_next(NULL);

    while (s && !session_has_kernels(s))
        s = session_table_next(s);
    return s;
}

/* Returns whether the session is suspect: it has unfinished kernels or, if no session has any,
 * other unfinished work. Copies and fills are checked and do not fault, and only completion words,
 * which a tenant can write, tell whether they have ended. */
static bool is_suspect(const struct session *session, bool kernels)
{
    return kernels ? session_has_kernels(session) : session_may_run(session);
}

/* Returns the only suspect, which is to blame for the loss; NULL: there are several, or none can be
 * found. The device writes no fence after a fault, and a session whose work ended before is not
 * suspect. */
static const struct session *only_suspect(bool kernels)
{
    const struct session *found = NULL;

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (!is_suspect(s, kernels))
            continue;
        if (found)
            return NULL;
        found = s;
    }
    /* Without suspects, the session whose driver call was under way is to blame. */
    return found ? found : lanes_draining();
}

static const struct session *in_slot(uint32_t slot)
{
    const struct session *s = session_table_next(NULL);

    while (s && s->slot != slot)
        s = session_table_next(s);
    return s;
}

/* Fills in the stream's first unfinished launch and its kernel's name. Copies and fills before that
 * launch may be unfinished too, but they cannot fault. */
static void blamed_kernel(const struct session *session, uint32_t stream, struct link_fatal *fatal)
{
    const struct stream *of = &session->submit.streams[stream];
    struct rec_launch record;

    fatal->stream = stream;
    fatal->position = stream_completed(session, stream);
    uint64_t at = fatal->position;
    if (!unfinished_first_launch(session->segment, stream, &at, of->head, &record))
        return;
    fatal->launch = of->launches - unfinished_launches(session->segment, stream, at, of->head) + 1;
    const struct kernel *kernel = kernel_find(&session->kernels, record.kernel);
    if (kernel)
        memcpy(fatal->kernel, kernel->name, sizeof(fatal->kernel));
}

/* Waits for OTHERS_NS at most until the other sessions' work has ended, so that they lose nothing:
 * after an eviction the device still works. Returns whether only the evicted session's work is
 * left. */
static bool others_end(const struct session *evicted)
{
    const uint64_t until = clock_ns() + OTHERS_NS;
    bool busy = true;

    while (busy && clock_ns() < until) {
        busy = !service_idle() || jobs_returned();
        lanes_poll(clock_ns());
        for (struct session *s = session_table_next(NULL); s; s = session_table_next(s))
            busy = busy || (s != evicted && session_runs(s));
    }
    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (s != evicted)
            reports_poll(s);
    }
    return !busy;
}

/* Returns whether nothing of the context runs any more. When the driver reports an illegal address,
 * all kernels have ended (bench/driver_facts, 25). After other errors, and for copies under way,
 * that is not known. A tenant that falsifies the completion word of its copy harms only its own
 * memory, which nobody else gets before this process has ended. */
static bool fault_ended_all(void)
{
    bool ended = lost_result() == CUDA_ERROR_ILLEGAL_ADDRESS && service_idle();

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s))
        ended = ended && session_transferred(s);
    return ended;
}

/* Sends all suspects to the supervisor, since any of them may have caused the loss. */
static void suspects_tell(bool kernels)
{
    struct link_message message = {.op = LINK_SUSPECT};

    for (struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        message.slot = s->slot;
        if (is_suspect(s, kernels))
            link_send(&message, -1);
    }
}

void blame(void)
{
    struct link_blame blame = {0};

    dispatch_wake();
    lanes_wake();
    const bool stopped = lost_wait(), evicted = lost_evicted() != LINK_SLOT_NONE;
    lanes_poll(clock_ns());
    const bool kernels = kernels_any();
    const struct session *session = evicted ? in_slot(lost_evicted()) : only_suspect(kernels);
    /* After an eviction, the evicted session's kernels run until this process has ended, in memory
     * that no other session gets before. */
    const bool at_rest = stopped && (evicted ? others_end(session) : fault_ended_all());

    if (!session && !evicted)
        suspects_tell(kernels);
    if (!session)
        worker_end(lost_result(), lost_text(), NULL, at_rest);
    blame.slot = session->slot;
    blame.fatal.kind = evicted ? GS_FAULT_EVICTED : GS_FAULT_NONE;
    blamed_kernel(session, stream_unfinished(session), &blame.fatal);
    worker_end(lost_result(), lost_text(), &blame, at_rest);
}
