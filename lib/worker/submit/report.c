/*
 * report.c - launches that are measured for their tenant (gs_launch_report).
 *
 * Such a launch is issued between two CUDA events. The main lane queries the events in each round
 * and writes the result into the session's segment. A launch without a report costs none of this.
 */
#include "worker/submit/report.h"

#include <stdlib.h>

#include "common/util.h"
#include "worker/partition/partition.h"

static struct report *report_slot(struct session *session, uint32_t id)
{
    if (!session->submit.reports)
        session->submit.reports = calloc(SEG_REPORTS, sizeof(*session->submit.reports));
    return session->submit.reports ? &session->submit.reports[id % SEG_REPORTS] : NULL;
}

CUresult report_launch(struct session *session, uint32_t index, const struct launch *launch,
                       uint32_t id, uint64_t submitted)
{
    struct stream *stream = &session->submit.streams[index];
    struct report *report = report_slot(session, id);
    uint64_t now = clock_ns();
    CUresult result = CUDA_SUCCESS;

    if (!report) {
        driver_failed("report_launch", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!report->start)
        result = DRV(cuEventCreate, &report->start, CU_EVENT_DEFAULT);
    if (!result && !report->end)
        result = DRV(cuEventCreate, &report->end, CU_EVENT_DEFAULT);
    /* A report in this slot whose launch still runs is dropped, as gs_launch_report promises. */
    if (report->id)
        session->submit.reports_open--;
    report->id = 0;
    if (!result)
        result = DRV(cuEventRecord, report->start, stream->cu);
    if (!result)
        result = launch_issue(session, stream, launch, 1, COMPLETION_NONE);
    if (!result)
        result = DRV(cuEventRecord, report->end, stream->cu);
    if (result)
        return result;
    report->id = id;
    report->queued_ns = now > submitted ? now - submitted : 0;
    report->priority = launch->priority;
    report->partition = launch->partition ? launch->partition->id : 0;
    report->sm_count = launch->partition ? launch->partition->sm_count : worker->info.sm_count;
    report->deadline_ns = launch->deadline_ns;
    session->submit.reports_open++;
    return CUDA_SUCCESS;
}

static void publish(struct session *session, struct report *report)
{
    struct seg_report *out = &session->server_page->report[report->id % SEG_REPORTS];
    const uint32_t there = atomic_load_explicit(&out->id, memory_order_relaxed);
    float milliseconds = 0;

    /* A launch that runs again (GS_ON_FAULT_REPLAY) may have been reported before: then the client
     * reads that report, or has given its slot to a newer one. */
    if (there && (int32_t)(there - report->id) >= 0) {
        report->id = 0;
        session->submit.reports_open--;
        return;
    }
    DRV_MUST(cuEventElapsedTime, &milliseconds, report->start, report->end);
    atomic_store_explicit(&out->id, 0, memory_order_relaxed);
    out->queued_ns = report->queued_ns;
    out->run_ns = (uint64_t)((double)milliseconds * 1e6);
    out->sm_count = report->sm_count;
    out->priority = report->priority;
    out->partition = report->partition;
    out->late = report->deadline_ns && clock_ns() > report->deadline_ns;
    /* release: publishes the figures to the client that reads the id */
    atomic_store_explicit(&out->id, report->id, memory_order_release);
    report->id = 0;
    session->submit.reports_open--;
}

/* Publishes the report of a slot, if there is one and its launch has ended. Returns whether the
 * launch still runs. */
static bool slot_poll(struct session *session, uint32_t slot)
{
    struct report *report = &session->submit.reports[slot];

    if (!report->id)
        return false;
    if (DRV_ASK(cuEventQuery, report->end) != CUDA_SUCCESS)
        return true;
    publish(session, report);
    return false;
}

void reports_poll(struct session *session)
{
    for (uint32_t i = 0; session->submit.reports_open && i < SEG_REPORTS; i++)
        slot_poll(session, i);
}

void reports_poll_some(struct session *session)
{
    bool goes_on = false;

    for (uint32_t i = 0; session->submit.reports_open && !goes_on && i < SEG_REPORTS; i++) {
        goes_on = slot_poll(session, session->submit.report_next);
        session->submit.report_next = (session->submit.report_next + 1) % SEG_REPORTS;
    }
}

void reports_deinit(struct session *session)
{
    for (uint32_t i = 0; session->submit.reports && i < SEG_REPORTS; i++) {
        if (session->submit.reports[i].start)
            DRV_MUST(cuEventDestroy_v2, session->submit.reports[i].start);
        if (session->submit.reports[i].end)
            DRV_MUST(cuEventDestroy_v2, session->submit.reports[i].end);
    }
    free(session->submit.reports);
    session->submit.reports = NULL;
}
