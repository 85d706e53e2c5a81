/*
 * batch.c - the batch: takes the launches of a stream's ring, gathers them, and issues them
 * together. Runs on the session's lane.
 *
 * Each launch is checked (record.c, and override.c for the QoS that it asks for) and gets its SMs:
 * those of the session's grant or of the trimmed partition (placement.c). The batch is issued as
 * exec graphs (launch.c) when the ring is empty, when the batch is full, or before a record that is
 * not a launch. Its last graph signals the end of the work (completion.c).
 */
#include "worker/submit/batch.h"

#include <string.h>

#include "common/util.h"
#include "worker/partition/partition.h"
#include "worker/sched/class_traits.h"
#include "worker/sched/estimate.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/submit/cooperative.h"
#include "worker/submit/launch.h"
#include "worker/submit/override.h"
#include "worker/submit/placement.h"
#include "worker/submit/report.h"
#include "worker/submit/stream.h"

/* Each lane's thread has a batch of its own, which is empty between two drains. The records stand
 * one after the other. They were in a ring together, so they fit into the bytes of one ring; if a
 * tenant overwrites records that are not complete, they may not, and the batch is issued in
 * parts. */
static _Thread_local struct {
    uint32_t count;
    uint32_t bytes; /* the bytes of its launches' records */
    struct launch launch[LAUNCHES_MAX];
    _Alignas(REC_ALIGN) unsigned char records[SEG_RING_BYTES];
} batch;

static void batch_clear(void)
{
    batch.count = 0;
    batch.bytes = 0;
}

bool batch_issue(struct session *session, uint32_t index, enum completion completion)
{
    struct stream *stream = &session->submit.streams[index];
    uint32_t launches = batch.count, refused = 0;

    if (launches == 0)
        return true;
    batch_clear();
    CUresult result = launch_issue(session, stream, batch.launch, launches, completion);
    if (!result)
        return true;
    while (refused + 1 < launches && batch.launch[refused].end <= stream->issued)
        refused++;
    record_driver_refused(session, index, result, batch.launch[refused].kernel,
                          stream->launches - launches + refused + 1);
    return false;
}

unsigned char *batch_next(struct session *session, uint32_t index, uint32_t size)
{
    if ((batch.count == LAUNCHES_MAX || size > sizeof(batch.records) - batch.bytes) &&
        !batch_issue(session, index, COMPLETION_NONE))
        return NULL;
    return batch.records + batch.bytes;
}

/* Applies the QoS for which the launch's record asks. */
static enum outcome launch_override(struct session *session, uint32_t index,
                                    const unsigned char *record, const struct rec_launch *r,
                                    struct launch *launch, uint64_t *deadline)
{
    struct wire_qos qos;

    memcpy(&qos, record + launch_record_qos(r->param_bytes), sizeof(qos));
    record_refusal refusal = override_check(&qos);
    if (!refusal && qos.deadline_ns && !(r->h.flags & REC_LAUNCH_TIME))
        refusal = "a launch with a deadline and without the time of its submission";
    if (!refusal && launch->cooperative && qos.affinity_type != GS_EXEC_AFFINITY_NONE)
        refusal = "a cooperative launch with an affinity of its own";
    if (refusal)
        return record_rejected(session, index, refusal);
    *deadline = qos.deadline_ns ? qos.deadline_ns : *deadline;
    if (batch.count == 0) /* the partitions of gathered launches must be kept */
        partitions_keep();
    return override_apply(session, index, &qos, launch);
}

/* Sets the class, priority and partition of a launch whose record asks for none. */
static void launch_defaults(const struct session *session, const struct stream *stream,
                            struct launch *launch)
{
    launch->cls = stream->cls;
    launch->priority = stream->priority;
    launch->partition = session->grant.partition;
    launch->deadline_ns = 0;
}

/* Returns when the launch was submitted: the time that the tenant gives; now, if it gives none or a
 * later one. */
static uint64_t launch_submitted(const unsigned char *record, const struct rec_launch *r)
{
    uint64_t now = clock_ns(), submitted = now;

    if (r->h.flags & REC_LAUNCH_TIME)
        memcpy(&submitted, record + launch_record_time(r->h.flags, r->param_bytes),
               sizeof(submitted));
    return submitted < now ? submitted : now;
}

/* Returns whether any lane may take the launch: it is known to be short, fills so little of the
 * device that no session waits for it, is not issued alone, and has no QoS, report or deadline of
 * its own. */
static bool launch_light(const struct rec_launch *r, const struct launch *launch, uint64_t ns)
{
    return !(r->h.flags & REC_LAUNCH_QOS) && !r->report && !launch->deadline_ns &&
           !launch_goes_alone(launch) && class_traits(launch->cls).side_lanes &&
           estimate_light(launch, ns);
}

/* Issues a launch that is issued alone or has a report, after the launches of the batch. */
static enum outcome take_alone(struct session *session, uint32_t index, struct launch alone,
                               const unsigned char *record, const struct rec_launch *r)
{
    struct stream *stream = &session->submit.streams[index];
    const struct partition *context = stream->context;
    const uint64_t submitted = launch_submitted(record, r);
    char text[192];

    if (!batch_issue(session, index, COMPLETION_NONE))
        return RECORD_ENDED;
    if (!stream_primary(session, stream))
        return RECORD_STALLED;
    if (alone.partition == context)
        alone.partition = NULL;
    if (alone.cooperative && !cooperative_ready(session, stream, &alone))
        return RECORD_STALLED;
    if (alone.cooperative && !cooperative_fits(&alone, text, sizeof(text)))
        return record_impossible(session, index, GS_ERR_LAUNCH_CONFIG, alone.kernel, text);
    CUresult result = r->report ? report_launch(session, index, &alone, r->report, submitted)
                                : launch_issue(session, stream, &alone, 1, COMPLETION_NONE);
    return result
               ? record_driver_refused(session, index, result, alone.kernel, stream->launches + 1)
               : RECORD_TAKEN;
}

enum outcome batch_take(struct session *session, uint32_t index, unsigned char *record,
                        uint32_t size, uint64_t *ns)
{
    struct stream *stream = &session->submit.streams[index];
    struct launch *launch = &batch.launch[batch.count];
    record_refusal refusal = record_check_launch(session, record, size, launch);
    struct rec_launch r;

    if (refusal)
        return record_rejected(session, index, refusal);
    memcpy(&r, record, sizeof(r));
    launch->end = stream->head + size;
    headroom_blocks(&session->sched.headroom, launch->grid);
    launch_defaults(session, stream, launch);
    *ns = estimate_ns(launch->kernel, launch->grid, launch->block);
    session->submit.light = launch_light(&r, launch, *ns) ? session->submit.light + 1 : 0;
    if (session->submit.light == 0 && !lane_is_main(session->lane))
        return RECORD_ELSEWHERE;
    uint64_t deadline = session->grant.link.deadline_ns;
    if (r.h.flags & REC_LAUNCH_QOS) {
        enum outcome outcome = launch_override(session, index, record, &r, launch, &deadline);
        if (outcome != RECORD_TAKEN)
            return outcome;
    }
    /* A cooperative launch may be as large as the grant allows and then would not fit into the
     * trimmed partition; nor might a cluster, whose SMs lie together. */
    if (launch->partition == session->grant.partition && !launch->cooperative &&
        !launch_in_clusters(launch))
        launch->partition = placement_of(session, launch->cls);
    if (!launch->partition)
        launch->partition = stream->context;
    if (deadline)
        launch->deadline_ns = launch_submitted(record, &r) + deadline;
    if (r.report || launch_goes_alone(launch))
        return take_alone(session, index, *launch, record, &r);
    batch.count++;
    batch.bytes += size;
    return RECORD_TAKEN;
}

void batch_finish(struct session *session, uint32_t index)
{
    struct stream *stream = &session->submit.streams[index];
    uint64_t position = stream->head;

    if (session->submit.faulted)
        batch_clear();
    if (session->submit.faulted || position == stream->signalled)
        return;
    if (batch.count > 0) {
        bool lone = batch.count == 1 && session->lane->alone &&
                    inflight_needs_no_fence(stream->inflight, stream->signalled, &batch.launch[0]);
        batch.launch[batch.count - 1].end =
            position; /* a padding may have followed the last launch */
        if (!batch_issue(session, index, lone ? COMPLETION_WRITTEN : COMPLETION_FENCE))
            return;
    } else {
        bool write = inflight_needs_no_fence(stream->inflight, stream->signalled, NULL);
        CUresult result = write ? completion_write(session, stream, position)
                                : completion_fence(session, stream, position);
        if (result)
            record_driver_refused(session, index, result, NULL, 0);
    }
}
