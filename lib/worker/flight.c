/*
 * flight.c - what is on the device, how long it takes, and when it ended.
 *
 * How far ahead of the device a tenant may be, and how much of the device it has had, must not hang
 * on words that a tenant can write. So the kernel that writes a completion word at the end of a
 * batch also writes a mark into memory of the worker's own: 24 bits that count the stream's marks
 * and 40 bits of the device's clock, one store of 8 bytes. The completion write of the device's
 * front end (the shortest round trip, for a tenant that launches and waits) cannot tell the time
 * and would cost 0.2 us more with a second word: it goes without, where the session has nothing
 * else in flight, the kernel is known to be short, and the tenant's own word says that the one
 * before has ended. Every 128th is marked. So a tenant that falsifies its words gets 128 short
 * kernels ahead, once.
 *
 * The device's clock against the host's: a mark's time lies between the work's dispatch and a
 * reading of the clock after the mark was found, and the least delay between the two, over 20 ms,
 * is taken to be none.
 */
#include "worker/flight.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/util.h"
#include "worker/lane.h"
#include "worker/lines.h"
#include "worker/partition.h"
#include "worker/schedule.h"
#include "worker/sm_time.h"

#define MARK_SEQUENCE_BITS 24u
#define SEQUENCE_MASK      ((UINT64_C(1) << MARK_SEQUENCE_BITS) - 1)
#define TIME_MASK          ((UINT64_C(1) << (64 - MARK_SEQUENCE_BITS)) - 1)

#define SEGMENTS     (2 * SCHED_STREAM_MAX) /* in flight: each has at least one launch */
#define UNMARKED_MAX 128u
#define UNMARKED_NS  50000u           /* kernels longer than this are always marked */
#define SM_THREADS   1024u            /* threads that fill an SM */
#define MIXED        UINT32_MAX       /* of a segment: several kernels, or what is unknown */
#define GRAPHS       (UINT32_MAX - 1) /* graphs and nothing else */
#define NOTHING      (UINT32_MAX - 2) /* events: the device spends no time on them */
#define GUESS_MOST   60000000000u     /* so that sums do not overflow */
#define OVERDUE_NS   50000000u /* what has run for so long, and four times as long as was thought */
#define CLOCK_EVERY  20000000u /* clocks that drift apart do so by 2 us at most in that time */

/* Launches of one kernel, and what was known of it when they were issued. */
struct spell {
    uint32_t kernel;
    uint64_t serial; /* of the kernel */
    double wave_ns;
    uint64_t ns;
};

/* Work that ends with one mark. */
struct segment {
    uint64_t dispatch_ns, deadline_ns;
    struct sched_work work; /* without events, on which the device spends no time */
    uint32_t records;       /* launches, copies, events */
    uint64_t serial;        /* of the kernel */
    uint32_t kernel;        /* of all its launches; or MIXED, GRAPHS, NOTHING */
    double waves;           /* of all its launches; graphs count 1 */
    struct spell longest;   /* of its kernels' */
    uint32_t place;         /* sm_time_place of its wide kernels; of several: the whole device */
    uint32_t place_sms;     /* of that */
    uint32_t filling; /* its kernels that fill their SMs, though these are a part of the device */
    uint32_t sequence;
    bool overdue; /* or behind one that is */
    bool beside;  /* kernels may have run beside others' */
    bool others;  /* there is what the SMs have no part in */
    bool graphs;  /* there are graphs */
};

/* A segment that is wider than all behind it. */
struct peak {
    uint32_t index, width;
};

struct flight {
    const _Atomic uint64_t *mark;
    uint32_t next;        /* mark */
    uint32_t first, last; /* free-running indices of `ring` */
    uint32_t count;       /* records in the ring */
    uint32_t seen;        /* segments whose end has been seen, and is to be taken note of */
    uint64_t seen_ns;     /* when the last of them ended */
    uint32_t width;       /* of the widest that is in flight, and not overdue */
    uint32_t unmarked;    /* records without a mark since the last one */
    uint64_t end_ns;      /* when the last one ended */
    uint64_t graph_ns;    /* how long its graphs ran lately; 0: never measured */
    struct segment open;  /* what has been issued since the last mark */
    struct segment ring[SEGMENTS];
    uint32_t peak_first, peak_last; /* free-running indices of `peak` */
    struct peak peak[SEGMENTS];     /* the first is the widest; overdue ones are none */
};

/* Set once at the start. */
static struct {
    _Atomic uint64_t *marks; /* 64 for each slot */
    CUdeviceptr address;
} memory;

CUresult flights_init(void)
{
    size_t size = (size_t)LINK_SLOTS_MAX * 64 * sizeof(uint64_t);
    void *marks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (marks == MAP_FAILED) {
        driver_failed("mmap of the marks", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory.marks = marks;
    CUresult result = DRV(cuMemHostRegister_v2, marks, size, CU_MEMHOSTREGISTER_DEVICEMAP);
    return result ? result : DRV(cuMemHostGetDevicePointer_v2, &memory.address, marks, 0);
}

static size_t mark_index(const struct session *session, const struct stream *stream)
{
    return (size_t)session->slot * 64 + (size_t)(stream - session->streams);
}

struct flight *flight_new(const struct session *session, const struct stream *stream)
{
    struct flight *flight = calloc(1, sizeof(*flight));

    if (!flight)
        return NULL;
    flight->mark = &memory.marks[mark_index(session, stream)];
    /* It goes on from where a predecessor of this number ended. */
    flight->next =
        (uint32_t)((atomic_load_explicit(flight->mark, memory_order_relaxed) + 1) & SEQUENCE_MASK);
    return flight;
}

CUdeviceptr flight_address(const struct session *session, const struct stream *stream)
{
    return memory.address + mark_index(session, stream) * sizeof(uint64_t);
}

uint64_t flight_next(const struct stream *stream)
{
    return stream->flight->next;
}

uint32_t flight_count(const struct stream *stream)
{
    return stream->flight ? stream->flight->count : 0;
}

uint32_t flight_open_count(const struct stream *stream)
{
    return stream->flight->open.records;
}

bool flight_open_others(const struct stream *stream)
{
    return stream->flight->open.others;
}

bool flight_open_kernels(const struct stream *stream)
{
    return stream->flight->open.work.ns > 0;
}

/* ---- What goes out --------------------------------------------------------------------------- */

/* How often the device is filled by a grid, and at least once: a kernel's time grows with it. */
static double waves_of(const uint32_t grid[3], const uint32_t block[3])
{
    double threads = (double)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    double waves = threads / ((double)worker.info.sm_count * SM_THREADS);

    return waves > 1 ? waves : 1;
}

uint64_t flight_guess(const struct kernel *kernel, const uint32_t grid[3], const uint32_t block[3])
{
    double guess = kernel->wave_ns * waves_of(grid, block);

    if (kernel->wave_ns == 0)
        return SCHED_UNKNOWN_NS;
    return guess < 1 ? 1 : guess < GUESS_MOST ? (uint64_t)guess : GUESS_MOST;
}

uint64_t flight_guess_graph(const struct stream *stream)
{
    return stream->flight->graph_ns ? stream->flight->graph_ns : SCHED_UNKNOWN_NS;
}

/* The part of the device that a partition is. */
static uint64_t partition_width(const struct partition *partition)
{
    return partition ? (uint64_t)partition->sm_count * SCHED_WIDTH / worker.info.sm_count
                     : SCHED_WIDTH;
}

/* The part of the device that a launch's blocks fill. */
static uint64_t launch_width(const struct launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t room = (uint64_t)worker.info.sm_count * SM_THREADS;
    uint64_t most = partition_width(launch->partition);

    if (blocks >= room || blocks * threads >= room)
        return most;
    uint64_t width = blocks * threads * SCHED_WIDTH / room;
    return width < most ? width : most;
}

bool flight_light(const struct launch *launch)
{
    return launch->kernel->wave_ns > 0 && launch_width(launch) * SCHED_NARROW <= SCHED_WIDTH &&
           flight_guess(launch->kernel, launch->grid, launch->block) <= UNMARKED_NS;
}

void flight_issue(struct stream *stream)
{
    if (stream->flight->open.records == 0)
        stream->flight->open.dispatch_ns = clock_ns();
}

/* Something of this kind is part of the open segment. */
static void open_note(struct segment *open, uint32_t kernel, uint64_t serial)
{
    if (open->records == 0 || open->kernel == NOTHING) {
        open->kernel = kernel;
        open->serial = serial;
    } else if (kernel != NOTHING && (open->kernel != kernel || open->serial != serial)) {
        open->kernel = MIXED;
    }
}

/* Does such a launch count as filling its SMs? More than a quarter of them does. How many of that
 * size fit beside each other, and whether they slow each other down, is not known, and of those
 * that do run side by side nobody could tell whose the time was: so they take turns. */
static bool fills(const struct launch *launch, uint64_t width)
{
    return 4 * width > partition_width(launch->partition);
}

/* Also where its line has other SMs? Partitions of less than half of the device may share none with
 * each other: kernels there are not to wait for each other. */
static bool fills_any(const struct launch *launch, uint64_t width)
{
    return fills(launch, width) && (!launch->partition || 2 * width >= SCHED_WIDTH);
}

static void open_width(struct segment *open, uint64_t width)
{
    if (open->work.width < width)
        open->work.width = (uint32_t)width;
}

/* Kernels that fill their SMs, or several of them, one after the other, are part of the open
 * segment. */
static void open_wide(struct segment *open, const struct partition *partition, uint32_t kernels)
{
    uint32_t place = sm_time_place(partition);

    if (open->filling == 0) {
        open->place = place;
        open->place_sms = partition ? partition->sm_count : worker.info.sm_count;
    } else if (open->place != place) {
        open->place = sm_time_place(NULL);
        open->place_sms = worker.info.sm_count;
    }
    open->filling += kernels;
}

void flight_add(struct stream *stream, const struct launch *launches, uint32_t count)
{
    struct segment *open = &stream->flight->open;
    const struct kernel *kernel = launches->kernel;
    uint64_t ns = flight_guess(kernel, launches->grid, launches->block) * count;
    const uint64_t width = launch_width(launches), most = partition_width(launches->partition);

    open_note(open, kernel->id, kernel->serial);
    open->records += count;
    open->work.launches += count;
    open->waves += waves_of(launches->grid, launches->block) * count;
    open->work.ns += ns;
    if (ns > open->longest.ns)
        open->longest = (struct spell){kernel->id, kernel->serial, kernel->wave_ns, ns};
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
}

void flight_add_graph(const struct session *session, struct stream *stream)
{
    struct segment *open = &stream->flight->open;
    uint64_t ns = flight_guess_graph(stream);

    open_note(open, GRAPHS, 0);
    open->graphs = true;
    open->records++;
    open->work.launches++;
    open->waves++;
    open->work.ns += ns;
    open->work.device_ns += ns;
    open_wide(open, session->grant.partition, 2); /* several kernels, one after the other */
    open->work.wide += 2;
    open_width(open, SCHED_WIDTH);
}

void flight_add_event(struct stream *stream)
{
    open_note(&stream->flight->open, NOTHING, 0);
    stream->flight->open.records++;
}

void flight_add_other(struct stream *stream)
{
    open_note(&stream->flight->open, MIXED, 0);
    stream->flight->open.records++;
    stream->flight->open.work.launches++;
    stream->flight->open.others = true;
}

static void width_update(struct session *session, struct flight *flight)
{
    const bool any = flight->peak_first != flight->peak_last;
    uint32_t width = any ? flight->peak[flight->peak_first % SEGMENTS].width : 0;

    if (width == flight->width)
        return;
    sched_width(line_of(session), &session->sched, flight->width, width);
    flight->width = width;
}

/* The last segment is behind all others: those that are no wider will never be the widest. */
static void width_add(struct session *session, struct flight *flight)
{
    const uint32_t index = flight->last - 1, width = flight->ring[index % SEGMENTS].work.width;

    while (flight->peak_first != flight->peak_last &&
           flight->peak[(flight->peak_last - 1) % SEGMENTS].width <= width)
        flight->peak_last--;
    flight->peak[flight->peak_last++ % SEGMENTS] = (struct peak){index, width};
    width_update(session, flight);
}

/* The first segment has ended. */
static void width_end(struct session *session, struct flight *flight)
{
    if (flight->peak_first == flight->peak_last ||
        flight->peak[flight->peak_first % SEGMENTS].index != flight->first)
        return;
    flight->peak_first++;
    width_update(session, flight);
}

/* All that is in flight is overdue. */
static void width_forget(struct session *session, struct flight *flight)
{
    flight->peak_first = flight->peak_last;
    width_update(session, flight);
}

/* Do all of its sessions run on these SMs, which are a part of the device? */
static bool line_within(const struct sched *line, uint32_t sms)
{
    return line->sms > 0 && line->sms <= sms;
}

void flight_close(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    uint32_t sequence = flight->next;

    flight->next = (uint32_t)((sequence + 1) & SEQUENCE_MASK);
    if (flight->open.records == 0)
        return; /* what came before has its mark already */
    struct segment *segment = &flight->ring[flight->last++ % SEGMENTS];
    *segment = flight->open;
    if (segment->filling > 0 && line_within(line_of(session), segment->place_sms))
        segment->work.wide = segment->filling;
    segment->sequence = sequence;
    flight->open = (struct segment){0};
    flight->count += segment->records;
    flight->unmarked = 0;
    session->flying |= UINT64_C(1) << (stream - session->streams);
    if (!session->flying_listed) {
        session->flying_listed = true;
        session->flying_next = session->lane->flights.first;
        session->lane->flights.first = session;
    }
    sched_issued(line_of(session), &session->sched, &segment->work, segment->dispatch_ns);
    width_add(session, flight);
}

static void charge(struct session *session, uint64_t ns)
{
    _Atomic uint64_t *counter = &session->stats->gpu_ns;

    if (!worker.policy.accounting)
        return;
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + ns,
                          memory_order_relaxed);
}

/* What counts for its session's share of a segment that ran so long: all of it, however little of
 * the device it filled, for whoever found no room beside it had to wait. What is in nobody's way
 * counts by what it fills. */
static uint64_t segment_share(const struct segment *segment, uint64_t ran)
{
    if (segment->work.ns == 0)
        return 0;
    if (segment->work.device_ns > segment->work.ns / SCHED_NARROW)
        return ran;
    return (uint64_t)((double)ran * (double)segment->work.device_ns / (double)segment->work.ns);
}

void flight_unmarked(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    const struct segment open = flight->open;

    flight->open = (struct segment){0};
    flight->unmarked += open.records;
    if (open.records == 0 || open.kernel == MIXED || open.kernel == NOTHING)
        return; /* copies: the SMs have no part in them */
    charge(session, open.work.ns);
    sched_issued(line_of(session), &session->sched, &open.work, open.dispatch_ns);
    sched_done(line_of(session), &session->sched, &open.work, segment_share(&open, open.work.ns),
               open.dispatch_ns);
}

bool flight_may_go_unmarked(const struct session *session, const struct stream *stream,
                            const struct launch *launch)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);
    const struct flight *flight = stream->flight;

    if (launch ? flight->open.records > 0 : flight->open.work.ns > 0)
        return false;
    if (flight->unmarked >= UNMARKED_MAX || session->lane->quiet_wanted)
        return false;
    /* Copies behind one another: a kernel between two of them would cost the device more than the
     * way from one engine to another and back. With no mark on its way there are at most
     * UNMARKED_MAX of them. */
    if (!launch && flight->first == flight->last)
        return true;
    if (flight->count > 0 || session->sched.inflight > 0)
        return false;
    if (atomic_load_explicit(&complete->position[stream - session->streams], memory_order_relaxed) <
        stream->signalled)
        return false;
    return !launch || (launch->kernel->wave_ns > 0 && !launch->deadline_ns &&
                       flight_guess(launch->kernel, launch->grid, launch->block) <= UNMARKED_NS);
}

/* ---- What has ended -------------------------------------------------------------------------- */

/* The host's time of a mark that has been seen: not before the dispatch, and not after now. By the
 * clock as it is now: where this thread had lost its processor before it saw the mark, an earlier
 * reading would have the device's clock ahead by as much, for seconds, and of each work that is
 * issued before the one before has ended so much would be charged to nobody. */
static uint64_t host_time(struct flights *f, uint64_t device, uint64_t dispatch)
{
    const uint64_t now = clock_ns();

    if (!f->clock_known) {
        f->clock_known = true;
        f->offset = device - now;
        f->least_delay = 0;
        f->next_correct = now + CLOCK_EVERY;
    }
    uint64_t delay = (now + f->offset - device) & TIME_MASK;
    if (delay > TIME_MASK / 2) { /* after now: this one was seen sooner than any before */
        f->offset = device - now;
        delay = 0;
    } else if (delay > now - dispatch) {
        f->offset = device - dispatch;
        delay = now - dispatch;
    }
    if (delay < f->least_delay)
        f->least_delay = delay;
    if (now >= f->next_correct) {
        f->offset -= f->least_delay;
        f->least_delay = UINT64_MAX >> 1;
        f->next_correct = now + CLOCK_EVERY;
    }
    return now - delay;
}

static bool segment_wide(const struct segment *segment)
{
    return segment->work.wide > 0;
}

/* The mean of the last few. */
static double mean_of(double mean, double last)
{
    return mean > 0 ? (mean * 3 + last) / 4 : last;
}

/* It ran for `from` at least, and no longer than `to`. What it was thought to take stands as long
 * as it may be so. */
static void kernel_learn(const struct session *session, uint32_t id, uint64_t serial, double from,
                         double to)
{
    struct kernel *kernel = id < session->kernel_room ? session->kernels[id] : NULL;

    if (!kernel || kernel->serial != serial)
        return; /* unloaded since */
    if (kernel->wave_ns < from)
        kernel->wave_ns = mean_of(kernel->wave_ns, kernel->wave_ns > 0 ? from : to);
    else if (kernel->wave_ns > to)
        kernel->wave_ns = mean_of(kernel->wave_ns, to);
}

/* How long it took is what the next of its kind is thought to take. It had `ran` of the time since
 * it was there: of kernels that fill the device this is what they ran, but narrower ones may have
 * run beside those that had the rest. What several kernels took together is by how much they were
 * taken wrong; the one that makes up most of it is corrected, until another does. */
static void segment_learn(const struct session *session, struct flight *flight,
                          const struct segment *segment, uint64_t ran, uint64_t there)
{
    const struct spell *longest = &segment->longest;
    const double least = (double)(ran ? ran : 1);
    const double most = segment->beside && there ? (double)there : least;

    if (segment->kernel == GRAPHS) {
        flight->graph_ns = (uint64_t)mean_of((double)flight->graph_ns, least / segment->waves) + 1;
    } else if (segment->kernel == MIXED) {
        const double scale = longest->wave_ns / (double)segment->work.ns;
        if (longest->wave_ns > 0 && !segment->others && !segment->graphs)
            kernel_learn(session, longest->kernel, longest->serial, least * scale, most * scale);
    } else if (segment->kernel != NOTHING) {
        kernel_learn(session, segment->kernel, segment->serial, least / segment->waves,
                     most / segment->waves);
    }
}

static void segment_end(struct session *session, struct stream *stream, struct segment *segment,
                        uint64_t end)
{
    struct flight *flight = stream->flight;
    uint64_t begin = segment->dispatch_ns > flight->end_ns ? segment->dispatch_ns : flight->end_ns;
    uint64_t there = end > begin ? end - begin : 0, ran = there;

    if (segment_wide(segment) && ran > 0)
        ran = sm_time_take(segment->place, begin, end);
    if (segment->overdue)
        sched_overdue_end(line_of(session), &session->sched, &segment->work);
    flight->end_ns = end;
    flight->count -= segment->records;
    width_end(session, flight);
    flight->first++;
    segment_learn(session, flight, segment, ran, there);
    if (segment->deadline_ns && end > segment->deadline_ns) {
        _Atomic uint64_t *missed = &session->stats->deadlines_missed;
        atomic_store_explicit(missed, atomic_load_explicit(missed, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
    if (segment->work.ns > 0)
        charge(session, ran);
    sched_done(line_of(session), &session->sched, &segment->work, segment_share(segment, ran), end);
    if (!session->hot && session->sched.inflight == 0)
        lines_cool();
}

/* What runs on and on may be waiting for others to bring something: neither its end nor that of
 * what is behind it is waited for. */
static void overdue_note(struct session *session, struct flight *flight, uint64_t now)
{
    const uint32_t first = flight->first + flight->seen;
    const struct segment *running = &flight->ring[first % SEGMENTS];
    const uint64_t before = flight->seen ? flight->seen_ns : flight->end_ns;

    if (first == flight->last || flight->ring[(flight->last - 1) % SEGMENTS].overdue)
        return;
    uint64_t since = running->dispatch_ns > before ? running->dispatch_ns : before;
    if (now < since + OVERDUE_NS || now - since < 4 * running->work.ns)
        return;
    for (uint32_t i = first; i != flight->last; i++) {
        struct segment *segment = &flight->ring[i % SEGMENTS];
        if (!segment->overdue)
            sched_overdue(line_of(session), &session->sched, &segment->work);
        segment->overdue = true;
    }
    width_forget(session, flight);
}

/* Only the last mark is still there: the segments before it ended in between, as was guessed. */
static void flight_end(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    uint64_t end = flight->seen_ns, guessed = 0, before = 0;

    const struct segment *oldest = &flight->ring[flight->first % SEGMENTS];
    uint64_t begin = oldest->dispatch_ns > flight->end_ns ? oldest->dispatch_ns : flight->end_ns;
    uint64_t all = end > begin ? end - begin : 0;
    for (uint32_t i = 0; i < flight->seen; i++)
        guessed += flight->ring[(flight->first + i) % SEGMENTS].work.ns;
    while (flight->seen > 0) {
        struct segment *segment = &flight->ring[flight->first % SEGMENTS];
        flight->seen--;
        before += segment->work.ns;
        segment_end(session, stream, segment,
                    flight->seen == 0 || guessed == 0
                        ? end
                        : begin + (uint64_t)((double)all * (double)before / (double)guessed));
    }
    if (flight->first == flight->last)
        session->flying &= ~(UINT64_C(1) << (stream - session->streams));
}

/* Takes note of what has been seen to end, the earliest first: who ended before another had the
 * device before it. */
static void flights_end(struct flights *f)
{
    while (f->ended_count > 0) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < f->ended_count; i++) {
            if (f->ended[i].when < f->ended[first].when)
                first = i;
        }
        const struct flights_ended ended = f->ended[first];
        f->ended[first] = f->ended[--f->ended_count];
        flight_end(ended.session, ended.stream);
    }
}

/* What the stream's mark says has ended. Whose time depends on others' ends is taken note of by
 * flights_end. */
static void flight_look(struct session *session, struct stream *stream)
{
    struct flights *f = &session->lane->flights;
    struct flight *flight = stream->flight;
    /* acquire: not before what the device wrote ahead of it */
    uint64_t mark = atomic_load_explicit(flight->mark, memory_order_acquire);
    const struct segment *last = NULL;
    bool wide = false;

    while (flight->first + flight->seen != flight->last) {
        const struct segment *segment = &flight->ring[(flight->first + flight->seen) % SEGMENTS];
        if (((mark - segment->sequence) & SEQUENCE_MASK) > SEQUENCE_MASK / 2)
            break;
        last = segment;
        wide = wide || segment_wide(segment);
        flight->seen++;
    }
    if (!last)
        return;
    flight->seen_ns = host_time(f, mark >> MARK_SEQUENCE_BITS, last->dispatch_ns);
    if (!wide) {
        flight_end(session, stream);
        return;
    }
    if (f->ended_count == FLIGHTS_ENDED_MAX)
        flights_end(f);
    f->ended[f->ended_count++] = (struct flights_ended){flight->seen_ns, session, stream};
}

static void session_look(struct session *session, uint64_t now)
{
    for (uint64_t left = session->flying; left; left &= left - 1) {
        struct stream *stream = &session->streams[__builtin_ctzll(left)];
        flight_look(session, stream);
        overdue_note(session, stream->flight, now);
    }
}

/* Who had the device is told by the ends of all, so all are looked at first. */
void flights_poll(struct flights *flights, uint64_t now)
{
    struct session **link = &flights->first;

    while (*link) {
        struct session *session = *link;
        session_look(session, now);
        if (session->flying) {
            link = &session->flying_next;
        } else {
            *link = session->flying_next;
            session->flying_listed = false;
        }
    }
    flights_end(flights);
}

void flight_settle(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    uint64_t now = clock_ns();

    if (!flight || flight->first == flight->last)
        return;
    flights_poll(&session->lane->flights, now);
    while (flight->first != flight->last)
        segment_end(session, stream, &flight->ring[flight->first % SEGMENTS], now);
    session->flying &= ~(UINT64_C(1) << (stream - session->streams));
}

/* The session is no more in its lane's list. */
static void unlist(struct session *session)
{
    struct session **link = &session->lane->flights.first;

    while (session->flying_listed && *link != session)
        link = &(*link)->flying_next;
    if (session->flying_listed)
        *link = session->flying_next;
    session->flying_listed = false;
}

void flights_leave(struct session *session)
{
    unlist(session);
    session->flying = 0;
    sched_leave(line_of(session), &session->sched);
    lines_forget(session);
}

void flights_part(struct session *session)
{
    flights_poll(&session->lane->flights, clock_ns());
    unlist(session);
}

void flights_join(struct session *session)
{
    if (!session->flying)
        return;
    session->flying_listed = true;
    session->flying_next = session->lane->flights.first;
    session->lane->flights.first = session;
}
