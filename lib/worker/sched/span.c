/* span.c - see span.h. */
#include "worker/sched/span.h"

#include "common/link.h"
#include "worker/sched/estimate.h"
#include "worker/sched/lane.h"
#include "worker/sched/sm_time.h"

/* ---- What a span is made of ------------------------------------------------------------------ */

/* Notes that the span has work of this kernel, or of a SPAN_* kind. */
static void note_kernel(struct inflight_span *span, uint32_t kernel, uint64_t serial)
{
    if (span->records == 0 || span->kernel == SPAN_NOTHING) {
        span->kernel = kernel;
        span->serial = serial;
    } else if (kernel != SPAN_NOTHING && (span->kernel != kernel || span->serial != serial)) {
        span->kernel = SPAN_MIXED;
    }
}

static void note_width(struct inflight_span *span, uint64_t width)
{
    if (span->work.width < width)
        span->work.width = (uint32_t)width;
}

/* Notes that the span has kernels which fill the partition's SMs, one after the other. */
static void note_filling(struct inflight_span *span, const struct partition *partition,
                         uint32_t kernels)
{
    uint32_t timeline = sm_time_timeline(partition);

    if (span->filling == 0) {
        span->timeline = timeline;
        span->timeline_sms = estimate_partition_sms(partition);
    } else if (span->timeline != timeline) {
        span->timeline = sm_time_timeline(NULL);
        span->timeline_sms = estimate_partition_sms(NULL);
    }
    span->filling += kernels;
}

void span_add_launches(struct inflight_span *span, const struct launch *launches, uint32_t count)
{
    const struct kernel *kernel = launches->kernel;
    const uint64_t ns = estimate_ns(kernel, launches->grid, launches->block) * count;
    const uint64_t width = estimate_width(launches);
    const uint64_t most = estimate_partition_width(launches->partition);

    note_kernel(span, kernel->id, kernel->serial);
    span->records += count;
    span->work.launches += count;
    span->waves += estimate_waves(launches->grid, launches->block) * count;
    span->work.ns += ns;
    span->sm_ns += ns * estimate_sms(launches);
    if (ns > span->longest.ns)
        span->longest = (struct kernel_run){kernel->id, kernel->serial, kernel->wave_ns, ns};
    if (estimate_fills(launches, width)) {
        note_filling(span, launches->partition, count);
        span->work.wide += estimate_fills_any(launches, width) ? count : 0;
        span->work.device_ns += ns * most / SCHED_WIDTH;
    } else {
        span->work.device_ns += ns * width / SCHED_WIDTH;
    }
    note_width(span, most > 0 ? width * SCHED_WIDTH / most : SCHED_WIDTH);
    span->beside = span->beside || width < SCHED_WIDTH;
    if (launches->deadline_ns)
        span->deadline_ns = launches->deadline_ns;
}

void span_add_graph(struct inflight_span *span, const struct partition *partition, uint64_t ns)
{
    note_kernel(span, SPAN_GRAPHS, 0);
    span->graphs = true;
    span->records++;
    span->work.launches++;
    span->waves++;
    span->work.ns += ns;
    span->sm_ns += ns * estimate_partition_sms(partition);
    span->work.device_ns += ns;
    note_filling(span, partition, 2); /* 2: a graph has several kernels */
    span->work.wide += 2;
    note_width(span, SCHED_WIDTH);
}

void span_add_event(struct inflight_span *span)
{
    note_kernel(span, SPAN_NOTHING, 0);
    span->records++;
}

void span_add_other(struct inflight_span *span)
{
    note_kernel(span, SPAN_MIXED, 0);
    span->records++;
    span->work.launches++;
    span->others = true;
}

/* ---- What it is charged for ------------------------------------------------------------------ */

void span_charge_ns(struct session *session, const struct inflight_span *span, uint64_t ns)
{
    const double sms = span->work.ns ? (double)span->sm_ns / (double)span->work.ns : 0;

    if (!worker->policy.accounting)
        return;
    link_stat_add(&session->stats->gpu_ns, ns);
    link_stat_add(&session->stats->sm_ns, (uint64_t)((double)ns * sms));
}

uint64_t span_vtime_ns(const struct inflight_span *span, uint64_t ran)
{
    if (span->work.ns == 0)
        return 0;
    if (span->work.device_ns > span->work.ns / SCHED_NARROW)
        return ran;
    return (uint64_t)((double)ran * (double)span->work.device_ns / (double)span->work.ns);
}

void span_charge(struct session *session, struct inflight_span *span, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin > span->charged_ns ? begin : span->charged_ns;
    uint64_t ran = end > from ? end - from : 0;

    if (span_wide(span) && ran > 0)
        ran = sm_time_take(span->timeline, from, end);
    if (span->work.ns > 0)
        span_charge_ns(session, span, ran);
    span->charged += ran;
    span->charged_ns = end;
}

/* ---- What its end teaches -------------------------------------------------------------------- */

/* Returns the running mean, in which the last value counts for a quarter. */
static double mean_of(double mean, double last)
{
    return mean > 0 ? (mean * 3 + last) / 4 : last;
}

/* Corrects the kernel's time per wave by a run that took at least `from` and at most `to` per wave.
 * A time between the two is kept. */
static void kernel_learn(const struct session *session, uint32_t id, uint64_t serial, double from,
                         double to)
{
    struct kernel *kernel = kernel_find(&session->kernels, id);

    if (!kernel || kernel->serial != serial)
        return; /* unloaded meanwhile */
    if (kernel->wave_ns < from)
        kernel->wave_ns = mean_of(kernel->wave_ns, kernel->wave_ns > 0 ? from : to);
    else if (kernel->wave_ns > to)
        kernel->wave_ns = mean_of(kernel->wave_ns, to);
}

void span_learn(const struct session *session, const struct inflight_span *span, uint64_t ran,
                uint64_t there, uint64_t *graph_ns)
{
    const struct kernel_run *longest = &span->longest;
    const double least = (double)(ran ? ran : 1);
    const double most = span->beside && there ? (double)there : least;

    if (span->kernel == SPAN_GRAPHS) {
        *graph_ns = (uint64_t)mean_of((double)*graph_ns, least / span->waves) + 1;
    } else if (span->kernel == SPAN_MIXED) {
        const double scale = longest->wave_ns / (double)span->work.ns;
        if (longest->wave_ns > 0 && !span->others && !span->graphs)
            kernel_learn(session, longest->kernel, longest->serial, least * scale, most * scale);
    } else if (span->kernel != SPAN_NOTHING) {
        kernel_learn(session, span->kernel, span->serial, least / span->waves, most / span->waves);
    }
}
