/*
 * trace.c - writes events into a trace segment (common/trace.h). Each lane has a ring of its own
 * there and is its only producer, so a write takes no lock, system call or allocation, and does not
 * wait for the reader.
 */
#include "worker/sched/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "worker/partition/partition.h"
#include "worker/sched/lane.h"

static const struct trace *running;
const struct trace *const *const trace_running = &running;

/* When the calling lane's driver call began. */
static _Thread_local uint64_t issuing_ns;

struct trace *trace_open(const struct link_trace *link)
{
    struct trace *trace = malloc(sizeof(*trace));
    void *memory = trace ? shmat(link->segment_id, NULL, 0) : (void *)-1;

    if (memory == (void *)-1) {
        /* EINVAL, EIDRM: the reader ended the trace before this worker, which was stopped, came to
         * map it. */
        if (errno != EINVAL && errno != EIDRM)
            log_error("event=trace-failed reason=\"it cannot be mapped: %s\"", strerror(errno));
        free(trace);
        return NULL;
    }
    *trace = (struct trace){.segment = memory, .uid = link->uid, .all = link->all};
    return trace;
}

void trace_free(struct trace *trace)
{
    if (trace)
        shmdt(trace->segment);
    free(trace);
}

void trace_set(struct trace *trace)
{
    static struct trace *former;

    running = trace;
    trace_free(former);
    former = trace;
    if (!trace)
        return;
    struct trace_event begun = {.at_ns = clock_ns(), .kind = TRACE_WORKER};
    begun.begin_ns = begun.end_ns = begun.at_ns;
    begun.u.session.pid = getpid();
    trace_ring_put(&trace->segment->ring[1], &begun);
}

static void put(const struct session *session, struct trace_event *event)
{
    event->session = session->id;
    event->at_ns = clock_ns();
    trace_ring_put(&running->segment->ring[1 + session->lane->index], event);
}

static void text_set(struct trace_event *event, const struct kernel *kernel)
{
    static_assert(sizeof(kernel->name) == sizeof(event->v.text), "a kernel's name fits");
    memcpy(event->v.text, kernel->name, sizeof(event->v.text));
}

void trace_fetched(const struct session *session, uint32_t stream, const unsigned char *record,
                   uint64_t fetched_ns)
{
    struct trace_event event = {.begin_ns = fetched_ns, .end_ns = fetched_ns};
    struct rec_launch r;

    memcpy(&r.h, record, sizeof(r.h));
    event.kind = TRACE_FETCHED;
    event.work = r.h.op;
    event.u.work.stream = stream;
    event.u.work.count = 1;
    if (r.h.op == REC_LAUNCH) {
        memcpy(&r, record, sizeof(r));
        event.amount = (uint64_t)r.grid[0] * r.grid[1] * r.grid[2];
        text_set(&event, session->kernels.table[r.kernel]);
    }
    put(session, &event);
}

void trace_issuing(void)
{
    issuing_ns = clock_ns();
}

static struct trace_event issued_event(uint32_t stream, uint32_t fence, uint16_t work)
{
    struct trace_event event = {.begin_ns = issuing_ns, .end_ns = clock_ns()};

    event.kind = TRACE_ISSUED;
    event.work = work;
    event.u.work.stream = stream;
    event.u.work.fence = fence;
    event.u.work.count = 1;
    return event;
}

void trace_launches(const struct session *session, uint32_t stream, uint32_t fence,
                    const struct launch *launches, uint32_t count)
{
    struct trace_event event = issued_event(stream, fence, REC_LAUNCH);

    event.u.work.count = count;
    event.u.work.sms = worker->info.sm_count;
    if (launches->partition && launches->partition != session->lane->context) {
        event.u.work.sms = launches->partition->sm_count;
        event.u.work.partition = launches->partition->id;
    }
    text_set(&event, launches->kernel);
    put(session, &event);
    issuing_ns = event.end_ns; /* the time of a call that issues several shapes counts only once */
}

void trace_other(const struct session *session, uint32_t stream, uint32_t fence, uint16_t work,
                 uint64_t bytes)
{
    struct trace_event event = issued_event(stream, fence, work);

    event.amount = bytes;
    put(session, &event);
}

void trace_ended(const struct session *session, uint32_t stream, uint32_t fence, uint64_t begin_ns,
                 uint64_t end_ns, uint64_t charged_ns)
{
    struct trace_event event = {.begin_ns = begin_ns,
                                .end_ns = end_ns > begin_ns ? end_ns : begin_ns};

    event.kind = TRACE_ENDED;
    event.amount = charged_ns;
    event.u.work.stream = stream;
    event.u.work.fence = fence;
    put(session, &event);
}
