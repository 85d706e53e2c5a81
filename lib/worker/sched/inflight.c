/*
 * inflight.c - the inflight tracker: which work is on the device, how long it takes, and when it
 * ended.
 *
 * How far ahead of the device a tenant may be, and how much of the device it has had, must not
 * depend on words that a tenant can write. So the kernel that writes a completion word at the end
 * of a batch also writes a timestamped completion fence into memory of the worker's own, which is
 * called the fence here: 24 bits that count the stream's fences and 40 bits of the device's clock,
 * in one store of 8 bytes.
 *
 * The completion write of the device's front end (the shortest round trip, for a tenant that
 * launches and waits) cannot tell the time and would cost 0.2 us more with a second word. So it
 * goes without a fence, where the session has nothing else in flight, the kernel is known to be
 * short, and the tenant's own completion word says that the kernel before has ended. Every 128th
 * kernel has a fence. So a tenant that falsifies its completion words gets 128 short kernels ahead,
 * once.
 *
 * A span is the work that ends with one fence.
 *
 * The device's clock is related to the host's as follows: a fence's time lies between the work's
 * dispatch and a reading of the host's clock after the fence was found. The least delay between the
 * fence's time and that reading, over 20 ms, is taken to be zero.
 */
#include "worker/sched/inflight.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/link.h"
#include "common/util.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/sched/latency.h"
#include "worker/sched/schedule.h"
#include "worker/sched/sm_time.h"
#include "worker/sched/trace.h"

#define FENCE_SEQUENCE_BITS 24u
#define SEQUENCE_MASK       ((UINT64_C(1) << FENCE_SEQUENCE_BITS) - 1)
#define TIME_MASK           ((UINT64_C(1) << (64 - FENCE_SEQUENCE_BITS)) - 1)

#define SPANS_MAX    (2 * SCHED_STREAM_MAX) /* spans in flight; each has a launch or more */
#define UNFENCED_MAX 128u                   /* records without a fence between two fences */
#define UNFENCED_NS  50000u                 /* kernels longer than this are always fenced */
#define SM_THREADS   1024u                  /* threads that fill an SM */
#define MIXED        UINT32_MAX       /* a span of several kernels, or of copies or waits too */
#define GRAPHS       (UINT32_MAX - 1) /* a span of graphs alone */
#define NOTHING      (UINT32_MAX - 2) /* a span of events alone: the device spends no time on it */
#define GUESS_MOST   60000000000u     /* the longest guess, so that sums do not overflow */
/* a span is overdue that has run for so long, and four times as long as was thought */
#define OVERDUE_NS   50000000u
/* How often a span that is overdue is charged while it runs. */
#define CHARGE_NS    100000000u
/* the offset of the clocks is corrected once in that time, in which they drift by 2 us at most */
#define CLOCK_EVERY  20000000u

/* Launches of one kernel, and what was known of the kernel when they were issued. */
struct kernel_run {
    uint32_t kernel;
    uint64_t serial; /* of the kernel */
    double wave_ns;  /* of the kernel; 0: never measured */
    uint64_t ns;     /* how long the launches were thought to run */
};

/* A span: work that ends with one fence. */
struct inflight_span {
    uint64_t dispatch_ns, deadline_ns;
    struct sched_work work;    /* without events, on which the device spends no time */
    uint32_t records;          /* launches, graphs, copies, memsets, waits, events */
    uint64_t serial;           /* of the kernel */
    uint32_t kernel;           /* the kernel of all launches; or MIXED, GRAPHS, NOTHING */
    double waves;              /* the sum over all launches; a graph counts 1 */
    struct kernel_run longest; /* the launches that were thought to run longest */
    uint64_t sm_ns;            /* the sum of the guesses, each by the SMs that the kernel takes */
    struct latency_span seen;  /* when its launches and graphs were seen */
    /* sm_time_timeline of the kernels that fill their SMs; where they have several timelines, that
     * of the whole device */
    uint32_t timeline;
    uint32_t timeline_sms; /* the number of SMs of that timeline */
    /* the number of kernels that fill their SMs, also where these are a part of the device */
    uint32_t filling;
    uint32_t sequence;            /* the count in its fence */
    bool overdue;                 /* it runs on and on, or stands behind a span that does */
    uint64_t charged, charged_ns; /* so much of its time is charged already, up to then */
    bool beside;                  /* its kernels may have run beside others' */
    bool others;                  /* it has copies or waits, which use no SM */
    bool graphs;                  /* it has graphs */
};

/* A span that is wider than all spans behind it. */
struct peak {
    uint32_t index, width; /* index: of the ring, free-running */
};

struct inflight {
    struct session *session;
    uint32_t index;                /* of the stream */
    const _Atomic uint64_t *fence; /* the stream's fence; the device writes it */
    uint32_t next;                 /* the count in the next fence */
    uint32_t first, last;          /* free-running indices of `ring` */
    uint32_t count;                /* records in the ring */
    uint32_t seen;                 /* spans seen to have ended, and not yet accounted for */
    uint64_t seen_ns;              /* when the last of these ended */
    uint32_t width;                /* of the widest span in flight that is not overdue */
    uint32_t unfenced;             /* records without a fence since the last fence */
    uint64_t end_ns;               /* when the last span accounted for ended */
    uint64_t graph_ns;             /* how long the stream's graphs ran lately; 0: never measured */
    struct latency_marks marks;    /* records that the lane has seen and not taken */
    struct inflight_span open;     /* the work issued since the last fence */
    struct inflight_span ring[SPANS_MAX];
    uint32_t peak_first, peak_last; /* free-running indices of `peak` */
    struct peak peak[SPANS_MAX];    /* the first is the widest; overdue spans are not in it */
};

/* The memory of all fences, set once at the start. */
static struct {
    _Atomic uint64_t *fences; /* INFLIGHT_STREAMS for each slot */
    CUdeviceptr address;      /* the same memory, as the device sees it */
} memory;

CUresult inflight_init(void)
{
    size_t size = INFLIGHT_INDEXES * sizeof(uint64_t);
    void *fences = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (fences == MAP_FAILED) {
        driver_failed("mmap of the fences", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory.fences = fences;
    CUresult result = DRV(cuMemHostRegister_v2, fences, size, CU_MEMHOSTREGISTER_DEVICEMAP);
    return result ? result : DRV(cuMemHostGetDevicePointer_v2, &memory.address, fences, 0);
}

size_t inflight_number(const struct inflight *inflight)
{
    return (size_t)inflight->session->slot * INFLIGHT_STREAMS + inflight->index;
}

struct inflight *inflight_new(struct session *session, uint32_t index)
{
    struct inflight *inflight = calloc(1, sizeof(*inflight));

    if (!inflight)
        return NULL;
    inflight->session = session;
    inflight->index = index;
    session->inflight.stream[index] = inflight;
    inflight->fence = &memory.fences[inflight_number(inflight)];
    /* The count goes on from the last fence of the stream that had this number before. */
    inflight->next = (uint32_t)((atomic_load_explicit(inflight->fence, memory_order_relaxed) + 1) &
                                SEQUENCE_MASK);
    return inflight;
}

void inflight_free(struct inflight *inflight)
{
    if (inflight)
        inflight->session->inflight.stream[inflight->index] = NULL;
    free(inflight);
}

CUdeviceptr inflight_fence_address(const struct inflight *inflight)
{
    return memory.address + inflight_number(inflight) * sizeof(uint64_t);
}

uint64_t inflight_fence_next(const struct inflight *inflight)
{
    return inflight->next;
}

uint32_t inflight_count(const struct inflight *inflight)
{
    return inflight ? inflight->count : 0;
}

uint32_t inflight_open_count(const struct inflight *inflight)
{
    return inflight->open.records;
}

bool inflight_open_others(const struct inflight *inflight)
{
    return inflight->open.others;
}

bool inflight_open_kernels(const struct inflight *inflight)
{
    return inflight->open.work.ns > 0;
}

/* ---- Issued work ----------------------------------------------------------------------------- */

/* How many times a grid fills the device, at least 1: a kernel's time grows with that number. */
static double waves_of(const uint32_t grid[3], const uint32_t block[3])
{
    double threads = (double)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    double waves = threads / ((double)worker->info.sm_count * SM_THREADS);

    return waves > 1 ? waves : 1;
}

uint64_t inflight_guess(const struct kernel *kernel, const uint32_t grid[3],
                        const uint32_t block[3])
{
    double guess = kernel->wave_ns * waves_of(grid, block);

    if (kernel->wave_ns == 0)
        return SCHED_UNKNOWN_NS;
    return guess < 1 ? 1 : guess < GUESS_MOST ? (uint64_t)guess : GUESS_MOST;
}

uint64_t inflight_guess_graph(const struct inflight *inflight)
{
    return inflight->graph_ns ? inflight->graph_ns : SCHED_UNKNOWN_NS;
}

static uint32_t sms_of(const struct partition *partition)
{
    return partition ? partition->sm_count : worker->info.sm_count;
}

/* On how many SMs the launch's blocks can be at a time. */
static uint32_t launch_sms(const struct launch *launch)
{
    const uint32_t sms = sms_of(launch->partition);
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

    return blocks < sms ? (uint32_t)blocks : sms;
}

/* The partition's part of the device, in units of SCHED_WIDTH. */
static uint64_t partition_width(const struct partition *partition)
{
    return partition ? (uint64_t)partition->sm_count * SCHED_WIDTH / worker->info.sm_count
                     : SCHED_WIDTH;
}

/* The part of the device that a launch's blocks fill, in units of SCHED_WIDTH. */
static uint64_t launch_width(const struct launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t capacity = (uint64_t)worker->info.sm_count * SM_THREADS;
    uint64_t most = partition_width(launch->partition);

    if (blocks >= capacity || blocks * threads >= capacity)
        return most;
    uint64_t width = blocks * threads * SCHED_WIDTH / capacity;
    return width < most ? width : most;
}

bool inflight_light(const struct launch *launch)
{
    return launch->kernel->wave_ns > 0 && launch_width(launch) * SCHED_NARROW <= SCHED_WIDTH &&
           inflight_guess(launch->kernel, launch->grid, launch->block) <= UNFENCED_NS;
}

void inflight_seen(struct inflight *inflight, uint64_t position, uint64_t now)
{
    if (inflight)
        latency_seen(&inflight->marks, position, now);
}

void inflight_issue(struct inflight *inflight)
{
    if (inflight->open.records == 0)
        inflight->open.dispatch_ns = clock_ns();
}

/* Notes that work of this kind is part of the open span. */
static void open_note(struct inflight_span *open, uint32_t kernel, uint64_t serial)
{
    if (open->records == 0 || open->kernel == NOTHING) {
        open->kernel = kernel;
        open->serial = serial;
    } else if (kernel != NOTHING && (open->kernel != kernel || open->serial != serial)) {
        open->kernel = MIXED;
    }
}

/* Notes when the launches were seen. All work of a span counts as issued at its begin: the clock is
 * not read once more for each call. */
static void open_seen(struct inflight *inflight, const struct launch *launches, uint32_t count)
{
    latency_issued(inflight->session, &inflight->marks, &inflight->open.seen, launches, count,
                   inflight->open.dispatch_ns);
}

/* Whether the launch counts as filling its SMs: whether it fills more than a quarter of them. It is
 * not known how many kernels of that size fit beside each other, nor whether they slow each other
 * down, and the time of kernels that do run side by side could be charged to none of them. So they
 * take turns. */
static bool fills(const struct launch *launch, uint64_t width)
{
    return 4 * width > partition_width(launch->partition);
}

/* Whether the launch counts as filling its SMs also in a domain that has other SMs. Partitions of
 * less than half of the device may share no SM with each other, and kernels in them are not to wait
 * for each other. */
static bool fills_any(const struct launch *launch, uint64_t width)
{
    return fills(launch, width) && (!launch->partition || 2 * width >= SCHED_WIDTH);
}

static void open_width(struct inflight_span *open, uint64_t width)
{
    if (open->work.width < width)
        open->work.width = (uint32_t)width;
}

/* Notes that kernels which fill their SMs, one after the other, are part of the open span. */
static void open_wide(struct inflight_span *open, const struct partition *partition,
                      uint32_t kernels)
{
    uint32_t timeline = sm_time_timeline(partition);

    if (open->filling == 0) {
        open->timeline = timeline;
        open->timeline_sms = partition ? partition->sm_count : worker->info.sm_count;
    } else if (open->timeline != timeline) {
        open->timeline = sm_time_timeline(NULL);
        open->timeline_sms = worker->info.sm_count;
    }
    open->filling += kernels;
}

void inflight_add(struct inflight *inflight, const struct launch *launches, uint32_t count)
{
    struct inflight_span *open = &inflight->open;
    const struct kernel *kernel = launches->kernel;
    uint64_t ns = inflight_guess(kernel, launches->grid, launches->block) * count;
    const uint64_t width = launch_width(launches), most = partition_width(launches->partition);

    open_note(open, kernel->id, kernel->serial);
    open->records += count;
    open->work.launches += count;
    open->waves += waves_of(launches->grid, launches->block) * count;
    open->work.ns += ns;
    open->sm_ns += ns * launch_sms(launches);
    if (ns > open->longest.ns)
        open->longest = (struct kernel_run){kernel->id, kernel->serial, kernel->wave_ns, ns};
    if (fills(launches, width)) {
        open_wide(open, launches->partition, count);
        open->work.wide += fills_any(launches, width) ? count : 0;
        open->work.device_ns += ns * most / SCHED_WIDTH;
    } else {
        open->work.device_ns += ns * width / SCHED_WIDTH;
    }
    open_width(open, most > 0 ? width * SCHED_WIDTH / most : SCHED_WIDTH);
    open->beside = open->beside || width < SCHED_WIDTH;
    if (launches->deadline_ns)
        open->deadline_ns = launches->deadline_ns;
    open_seen(inflight, launches, count);
}

void inflight_add_graph(struct inflight *inflight, uint64_t position)
{
    struct inflight_span *open = &inflight->open;
    uint64_t ns = inflight_guess_graph(inflight);

    open_note(open, GRAPHS, 0);
    open->graphs = true;
    open->records++;
    open->work.launches++;
    open->waves++;
    open->work.ns += ns;
    open->sm_ns += ns * sms_of(inflight->session->grant.partition);
    open->work.device_ns += ns;
    open_wide(open, inflight->session->grant.partition, 2); /* 2: a graph has several kernels */
    open->work.wide += 2;
    open_width(open, SCHED_WIDTH);
    open_seen(inflight, &(struct launch){.end = position}, 1);
}

void inflight_add_event(struct inflight *inflight)
{
    open_note(&inflight->open, NOTHING, 0);
    inflight->open.records++;
}

void inflight_add_other(struct inflight *inflight)
{
    open_note(&inflight->open, MIXED, 0);
    inflight->open.records++;
    inflight->open.work.launches++;
    inflight->open.others = true;
}

/* Tells the scheduler the width of the stream's widest span, where the width has changed. */
static void width_update(struct inflight *inflight)
{
    struct session *session = inflight->session;
    const bool any = inflight->peak_first != inflight->peak_last;
    uint32_t width = any ? inflight->peak[inflight->peak_first % SPANS_MAX].width : 0;

    if (width == inflight->width)
        return;
    sched_width(domain_of(session), &session->sched.entity, inflight->width, width);
    inflight->width = width;
}

/* Adds the last span to the peaks. It is behind all other spans, so spans that are no wider will
 * never be the widest again. */
static void width_add(struct inflight *inflight)
{
    const uint32_t index = inflight->last - 1, width = inflight->ring[index % SPANS_MAX].work.width;

    while (inflight->peak_first != inflight->peak_last &&
           inflight->peak[(inflight->peak_last - 1) % SPANS_MAX].width <= width)
        inflight->peak_last--;
    inflight->peak[inflight->peak_last++ % SPANS_MAX] = (struct peak){index, width};
    width_update(inflight);
}

/* Takes the first span, which has ended, out of the peaks. */
static void width_end(struct inflight *inflight)
{
    if (inflight->peak_first == inflight->peak_last ||
        inflight->peak[inflight->peak_first % SPANS_MAX].index != inflight->first)
        return;
    inflight->peak_first++;
    width_update(inflight);
}

/* Empties the peaks, because all spans in flight are overdue. */
static void width_clear(struct inflight *inflight)
{
    inflight->peak_first = inflight->peak_last;
    width_update(inflight);
}

/* Whether all sessions of the domain run on one part of the device, of no more than `sms` SMs. */
static bool domain_within(const struct sched *domain, uint32_t sms)
{
    return domain->sms > 0 && domain->sms <= sms;
}

void inflight_fenced(struct inflight *inflight)
{
    struct session *session = inflight->session;
    uint32_t sequence = inflight->next;

    inflight->next = (uint32_t)((sequence + 1) & SEQUENCE_MASK);
    if (inflight->open.records == 0)
        return; /* the work before has its fence already */
    struct inflight_span *span = &inflight->ring[inflight->last++ % SPANS_MAX];
    *span = inflight->open;
    if (span->filling > 0 && domain_within(domain_of(session), span->timeline_sms))
        span->work.wide = span->filling;
    span->sequence = sequence;
    inflight->open = (struct inflight_span){0};
    inflight->count += span->records;
    inflight->unfenced = 0;
    session->inflight.streams |= UINT64_C(1) << inflight->index;
    if (!session->inflight.listed) {
        session->inflight.listed = true;
        session->inflight.next = session->lane->inflight_lane.first;
        session->lane->inflight_lane.first = session;
    }
    sched_issued(domain_of(session), &session->sched.entity, &span->work, span->dispatch_ns);
    width_add(inflight);
}

/* Charges the session for time that the span was on the device, and on as many SMs as it takes. */
static void charge(struct session *session, const struct inflight_span *span, uint64_t ns)
{
    const double sms = span->work.ns ? (double)span->sm_ns / (double)span->work.ns : 0;

    if (!worker->policy.accounting)
        return;
    link_stat_add(&session->stats->gpu_ns, ns);
    link_stat_add(&session->stats->sm_ns, (uint64_t)((double)ns * sms));
}

/* The part of a span's time that counts for its session's share: the whole time, however little of
 * the device the span filled, because a session that found no room beside it had to wait. A span so
 * narrow that no session waits for it counts by the part of the device that it fills. */
static uint64_t span_vtime_ns(const struct inflight_span *span, uint64_t ran)
{
    if (span->work.ns == 0)
        return 0;
    if (span->work.device_ns > span->work.ns / SCHED_NARROW)
        return ran;
    return (uint64_t)((double)ran * (double)span->work.device_ns / (double)span->work.ns);
}

void inflight_unfenced(struct inflight *inflight)
{
    struct session *session = inflight->session;
    const struct inflight_span open = inflight->open;

    inflight->open = (struct inflight_span){0};
    inflight->unfenced += open.records;
    if (open.records == 0 || open.kernel == MIXED || open.kernel == NOTHING)
        return; /* copies use no SM */
    charge(session, &open, open.work.ns);
    latency_ended(session, &open.seen, open.dispatch_ns + open.work.ns);
    sched_issued(domain_of(session), &session->sched.entity, &open.work, open.dispatch_ns);
    sched_done(domain_of(session), &session->sched.entity, &open.work,
               span_vtime_ns(&open, open.work.ns), open.dispatch_ns);
}

bool inflight_may_go_unfenced(const struct inflight *inflight, uint64_t signalled,
                              const struct launch *launch)
{
    const struct session *session = inflight->session;
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);

    if (launch ? inflight->open.records > 0 : inflight->open.work.ns > 0)
        return false;
    if (inflight->unfenced >= UNFENCED_MAX || session->lane->quiet_wanted || trace_of(session))
        return false; /* a trace needs the time of each end */
    /* Copies behind one another go without a fence: the completing kernel between two of them would
     * cost the device more than the way from one engine to another and back. While no fence is on
     * its way, there are at most UNFENCED_MAX of them. */
    if (!launch && inflight->first == inflight->last)
        return true;
    if (inflight->count > 0 || session->sched.entity.inflight > 0)
        return false;
    if (atomic_load_explicit(&complete->position[inflight->index], memory_order_relaxed) <
        signalled)
        return false;
    return !launch || (launch->kernel->wave_ns > 0 && !launch->deadline_ns &&
                       inflight_guess(launch->kernel, launch->grid, launch->block) <= UNFENCED_NS);
}

/* ---- Ended work ------------------------------------------------------------------------------ */

/* The host's time of a fence that has been seen: not before the dispatch, and not after now. The
 * clock is read here and not taken from the begin of the round. Where the thread loses its
 * processor before it sees the fence, an earlier reading would put the device's clock ahead by that
 * loss, for seconds; and of each span that is issued before its predecessor has ended, that much
 * time would be charged to no session. */
static uint64_t host_time(struct inflight_lane *tracker, uint64_t device, uint64_t dispatch)
{
    const uint64_t now = clock_ns();

    if (!tracker->clock_known) {
        tracker->clock_known = true;
        tracker->offset = device - now;
        tracker->least_delay = 0;
        tracker->next_correct = now + CLOCK_EVERY;
    }
    uint64_t delay = (now + tracker->offset - device) & TIME_MASK;
    if (delay > TIME_MASK / 2) { /* after now: this fence was seen sooner than any before */
        tracker->offset = device - now;
        delay = 0;
    } else if (delay > now - dispatch) {
        tracker->offset = device - dispatch;
        delay = now - dispatch;
    }
    if (delay < tracker->least_delay)
        tracker->least_delay = delay;
    if (now >= tracker->next_correct) {
        tracker->offset -= tracker->least_delay;
        tracker->least_delay = UINT64_MAX >> 1;
        tracker->next_correct = now + CLOCK_EVERY;
    }
    return now - delay;
}

static bool span_wide(const struct inflight_span *span)
{
    return span->work.wide > 0;
}

/* The running mean, in which the last value counts a quarter. */
static double mean_of(double mean, double last)
{
    return mean > 0 ? (mean * 3 + last) / 4 : last;
}

/* Corrects the kernel's time by a run that took `from` at least and `to` at most for one wave. A
 * time between the two stands. */
static void kernel_learn(const struct session *session, uint32_t id, uint64_t serial, double from,
                         double to)
{
    struct kernel *kernel = kernel_find(&session->kernels, id);

    if (!kernel || kernel->serial != serial)
        return; /* unloaded since */
    if (kernel->wave_ns < from)
        kernel->wave_ns = mean_of(kernel->wave_ns, kernel->wave_ns > 0 ? from : to);
    else if (kernel->wave_ns > to)
        kernel->wave_ns = mean_of(kernel->wave_ns, to);
}

/* Learns from an ended span how long its kernels take. The span was at the head of its stream for
 * the time `there` and is charged with `ran` of it. Kernels that fill the device ran for just
 * `ran`; narrower kernels may have run beside those that had the rest. Of a span of several kernels
 * only the sum is known: the error of its guess corrects the kernel that makes up most of it, until
 * another kernel does. */
static void span_learn(struct inflight *inflight, const struct inflight_span *span, uint64_t ran,
                       uint64_t there)
{
    const struct session *session = inflight->session;
    const struct kernel_run *longest = &span->longest;
    const double least = (double)(ran ? ran : 1);
    const double most = span->beside && there ? (double)there : least;

    if (span->kernel == GRAPHS) {
        inflight->graph_ns = (uint64_t)mean_of((double)inflight->graph_ns, least / span->waves) + 1;
    } else if (span->kernel == MIXED) {
        const double scale = longest->wave_ns / (double)span->work.ns;
        if (longest->wave_ns > 0 && !span->others && !span->graphs)
            kernel_learn(session, longest->kernel, longest->serial, least * scale, most * scale);
    } else if (span->kernel != NOTHING) {
        kernel_learn(session, span->kernel, span->serial, least / span->waves, most / span->waves);
    }
}

/* Charges the session for what the span has run from `begin` to `end`, but for what it is charged
 * for already. */
static void span_charge(struct session *session, struct inflight_span *span, uint64_t begin,
                        uint64_t end)
{
    const uint64_t from = begin > span->charged_ns ? begin : span->charged_ns;
    uint64_t ran = end > from ? end - from : 0;

    if (span_wide(span) && ran > 0)
        ran = sm_time_take(span->timeline, from, end);
    if (span->work.ns > 0)
        charge(session, span, ran);
    span->charged += ran;
    span->charged_ns = end;
}

static void span_end(struct inflight *inflight, struct inflight_span *span, uint64_t end)
{
    struct session *session = inflight->session;
    uint64_t begin = span->dispatch_ns > inflight->end_ns ? span->dispatch_ns : inflight->end_ns;
    uint64_t there = end > begin ? end - begin : 0, ran;

    span_charge(session, span, begin, end);
    ran = span->charged;
    if (span->overdue)
        sched_overdue_end(domain_of(session), &session->sched.entity, &span->work);
    inflight->end_ns = end;
    inflight->count -= span->records;
    width_end(inflight);
    inflight->first++;
    span_learn(inflight, span, ran, there);
    latency_ended(session, &span->seen, end);
    if (span->deadline_ns && end > span->deadline_ns)
        link_stat_add(&session->stats->deadlines_missed, 1);
    if (trace_of(session))
        trace_ended(session, inflight->index, span->sequence, begin, end, ran);
    sched_done(domain_of(session), &session->sched.entity, &span->work, span_vtime_ns(span, ran),
               end);
    if (!session->sched.polled && session->sched.entity.inflight == 0)
        domains_idle();
}

/* Since when the first span that has not ended runs, or could run. */
static uint64_t running_since(const struct inflight *inflight)
{
    const struct inflight_span *running =
        &inflight->ring[(inflight->first + inflight->seen) % SPANS_MAX];
    const uint64_t before = inflight->seen ? inflight->seen_ns : inflight->end_ns;

    return running->dispatch_ns > before ? running->dispatch_ns : before;
}

uint64_t inflight_since(const struct session *session)
{
    uint64_t since = 0;

    for (uint64_t left = session->inflight.streams; left; left &= left - 1) {
        const struct inflight *inflight = session->inflight.stream[__builtin_ctzll(left)];
        if (!inflight || inflight->first + inflight->seen == inflight->last)
            continue;
        const uint64_t began = running_since(inflight);
        since = !since || began < since ? began : since;
    }
    return since;
}

/* Marks the stream's spans as overdue where the first of them runs on and on. Its kernel may be
 * waiting for data from another session, so no session waits for the end of this span or of later
 * ones. */
static void overdue_note(struct inflight *inflight, uint64_t now)
{
    struct session *session = inflight->session;
    const uint32_t first = inflight->first + inflight->seen;
    struct inflight_span *running = &inflight->ring[first % SPANS_MAX];

    if (first == inflight->last)
        return;
    uint64_t since = running_since(inflight);
    if (running->overdue && now >= since + CHARGE_NS && now >= running->charged_ns + CHARGE_NS)
        span_charge(session, running, since, now);
    if (inflight->ring[(inflight->last - 1) % SPANS_MAX].overdue || now < since + OVERDUE_NS ||
        now - since < 4 * running->work.ns)
        return;
    for (uint32_t i = first; i != inflight->last; i++) {
        struct inflight_span *span = &inflight->ring[i % SPANS_MAX];
        if (!span->overdue)
            sched_overdue(domain_of(session), &session->sched.entity, &span->work);
        span->overdue = true;
    }
    width_clear(inflight);
}

/* Accounts for all spans of the stream that were seen to have ended. The fence of the last one has
 * overwritten the others, so the time is divided among the spans in proportion to their guesses. */
static void inflight_end(struct inflight *inflight)
{
    uint64_t end = inflight->seen_ns, guessed = 0, before = 0;

    const struct inflight_span *oldest = &inflight->ring[inflight->first % SPANS_MAX];
    uint64_t begin =
        oldest->dispatch_ns > inflight->end_ns ? oldest->dispatch_ns : inflight->end_ns;
    uint64_t all = end > begin ? end - begin : 0;
    for (uint32_t i = 0; i < inflight->seen; i++)
        guessed += inflight->ring[(inflight->first + i) % SPANS_MAX].work.ns;
    while (inflight->seen > 0) {
        struct inflight_span *span = &inflight->ring[inflight->first % SPANS_MAX];
        inflight->seen--;
        before += span->work.ns;
        span_end(inflight, span,
                 inflight->seen == 0 || guessed == 0
                     ? end
                     : begin + (uint64_t)((double)all * (double)before / (double)guessed));
    }
    if (inflight->first == inflight->last)
        inflight->session->inflight.streams &= ~(UINT64_C(1) << inflight->index);
}

/* Accounts for the streams whose work was seen to have ended, the earliest end first, because the
 * work that ended first had the device first. */
static void inflight_end_all(struct inflight_lane *tracker)
{
    while (tracker->ended_count > 0) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < tracker->ended_count; i++) {
            if (tracker->ended[i].when < tracker->ended[first].when)
                first = i;
        }
        struct inflight *inflight = tracker->ended[first].inflight;
        tracker->ended[first] = tracker->ended[--tracker->ended_count];
        inflight_end(inflight);
    }
}

/* Reads the stream's fence, and accounts for the spans that have ended. Wide spans, whose time
 * depends on the ends of other sessions' spans, are left to inflight_end_all. */
static void inflight_look(struct inflight *inflight)
{
    struct inflight_lane *tracker = &inflight->session->lane->inflight_lane;
    /* acquire: makes visible what the device wrote before the fence */
    uint64_t fence = atomic_load_explicit(inflight->fence, memory_order_acquire);
    const struct inflight_span *last = NULL;
    bool wide = false;

    while (inflight->first + inflight->seen != inflight->last) {
        const struct inflight_span *span =
            &inflight->ring[(inflight->first + inflight->seen) % SPANS_MAX];
        if (((fence - span->sequence) & SEQUENCE_MASK) > SEQUENCE_MASK / 2)
            break;
        last = span;
        wide = wide || span_wide(span);
        inflight->seen++;
    }
    if (!last)
        return;
    inflight->seen_ns = host_time(tracker, fence >> FENCE_SEQUENCE_BITS, last->dispatch_ns);
    if (!wide) {
        inflight_end(inflight);
        return;
    }
    if (tracker->ended_count == INFLIGHT_ENDED_MAX)
        inflight_end_all(tracker);
    tracker->ended[tracker->ended_count++] = (struct inflight_ended){inflight->seen_ns, inflight};
}

static void session_look(struct session *session, uint64_t now)
{
    for (uint64_t left = session->inflight.streams; left; left &= left - 1) {
        struct inflight *inflight = session->inflight.stream[__builtin_ctzll(left)];
        inflight_look(inflight);
        overdue_note(inflight, now);
    }
}

/* Reads all fences before it accounts for any wide span, because only the ends of all tell which
 * session had the device when. */
void inflight_poll_all(struct inflight_lane *inflight_lane, uint64_t now)
{
    struct session **link = &inflight_lane->first;

    while (*link) {
        struct session *session = *link;
        session_look(session, now);
        if (session->inflight.streams) {
            link = &session->inflight.next;
        } else {
            *link = session->inflight.next;
            session->inflight.listed = false;
        }
    }
    inflight_end_all(inflight_lane);
}

void inflight_settle(struct inflight *inflight)
{
    uint64_t now = clock_ns();

    if (!inflight || inflight->first == inflight->last)
        return;
    inflight_poll_all(&inflight->session->lane->inflight_lane, now);
    while (inflight->first != inflight->last)
        span_end(inflight, &inflight->ring[inflight->first % SPANS_MAX], now);
    inflight->session->inflight.streams &= ~(UINT64_C(1) << inflight->index);
}

/* Takes the session out of its lane's list. */
static void unlist(struct session *session)
{
    struct session **link = &session->lane->inflight_lane.first;

    while (session->inflight.listed && *link != session)
        link = &(*link)->inflight.next;
    if (session->inflight.listed)
        *link = session->inflight.next;
    session->inflight.listed = false;
}

void inflight_remove(struct session *session)
{
    unlist(session);
    session->inflight.streams = 0;
    sched_remove(domain_of(session), &session->sched.entity);
    domains_remove(session);
}

void inflight_lane_leave(struct session *session)
{
    inflight_poll_all(&session->lane->inflight_lane, clock_ns());
    unlist(session);
}

void inflight_lane_enter(struct session *session)
{
    if (!session->inflight.streams)
        return;
    session->inflight.listed = true;
    session->inflight.next = session->lane->inflight_lane.first;
    session->lane->inflight_lane.first = session;
}
