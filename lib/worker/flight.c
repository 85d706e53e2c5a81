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
 * The device's clock against the host's: a mark's time lies between the work's dispatch and the
 * look that found the mark, and the least delay between a mark and its look, over a second, is
 * taken to be none.
 */
#include "worker/flight.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/util.h"
#include "worker/parked.h"
#include "worker/schedule.h"

#define MARK_SEQUENCE_BITS 24u
#define SEQUENCE_MASK      ((UINT64_C(1) << MARK_SEQUENCE_BITS) - 1)
#define TIME_MASK          ((UINT64_C(1) << (64 - MARK_SEQUENCE_BITS)) - 1)

#define SEGMENTS     (2 * SCHED_STREAM_MAX) /* in flight: each has at least one launch */
#define UNMARKED_MAX 128u
#define UNMARKED_NS  50000u /* kernels longer than this are always marked */
#define WIDTH_ONE    256u   /* a kernel that fills the device */
#define SM_THREADS   1024u  /* threads that fill an SM */
#define MIXED        UINT32_MAX
#define CLOCK_EVERY  1000000000u
#define WIDE_ENDS    16u

/* Work that ends with one mark. */
struct segment {
    uint64_t dispatch_ns, deadline_ns;
    uint64_t ns, device_ns; /* guessed */
    uint64_t serial;        /* of the kernel */
    uint32_t kernel;        /* of all its launches; MIXED: of several, or of no known one */
    uint32_t launches;
    uint32_t sequence;
};

struct flight {
    const _Atomic uint64_t *mark;
    uint32_t next;        /* mark */
    uint32_t first, last; /* free-running indices of `ring` */
    uint32_t count;       /* launches in the ring */
    uint32_t unmarked;    /* launches without a mark since the last one */
    uint64_t end_ns;      /* when the last one ended */
    struct segment open;  /* what has been issued since the last mark */
    struct segment ring[SEGMENTS];
};

struct sched sched;

static struct {
    _Atomic uint64_t *marks; /* 64 for each slot */
    CUdeviceptr address;
    bool clock_known;
    uint64_t offset;                    /* the device's clock less the host's */
    uint64_t least_delay, next_correct; /* of marks seen; when the offset is corrected */
    uint64_t wide_end[WIDE_ENDS];       /* when kernels that fill the device ended, lately */
    uint32_t wide_next;
} f;

CUresult flights_init(void)
{
    size_t size = (size_t)LINK_SLOTS_MAX * 64 * sizeof(uint64_t);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        driver_failed("mmap of the marks", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    f.marks = memory;
    CUresult result = DRV(cuMemHostRegister_v2, memory, size, CU_MEMHOSTREGISTER_DEVICEMAP);
    return result ? result : DRV(cuMemHostGetDevicePointer_v2, &f.address, memory, 0);
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
    flight->mark = &f.marks[mark_index(session, stream)];
    /* It goes on from where a predecessor of this number ended. */
    flight->next =
        (uint32_t)((atomic_load_explicit(flight->mark, memory_order_relaxed) + 1) & SEQUENCE_MASK);
    return flight;
}

CUdeviceptr flight_address(const struct session *session, const struct stream *stream)
{
    return f.address + mark_index(session, stream) * sizeof(uint64_t);
}

uint64_t flight_next(const struct stream *stream)
{
    return stream->flight->next;
}

uint32_t flight_count(const struct stream *stream)
{
    return stream->flight ? stream->flight->count : 0;
}

/* ---- What goes out --------------------------------------------------------------------------- */

uint64_t flight_guess(const struct kernel *kernel)
{
    return kernel->mean_ns ? kernel->mean_ns : SCHED_UNKNOWN_NS;
}

/* The part of the device that a launch fills. */
static uint64_t launch_width(const struct launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t room = (uint64_t)worker.info.sm_count * SM_THREADS;

    if (blocks >= room || blocks * threads >= room)
        return WIDTH_ONE;
    return blocks * threads * WIDTH_ONE / room;
}

void flight_add(struct stream *stream, const struct launch *launches, uint32_t count)
{
    struct segment *open = &stream->flight->open;
    const struct kernel *kernel = launches->kernel;
    uint64_t ns = flight_guess(kernel) * count;

    if (open->launches == 0) {
        open->dispatch_ns = clock_ns();
        open->kernel = kernel->id;
        open->serial = kernel->serial;
    } else if (open->kernel != kernel->id || open->serial != kernel->serial) {
        open->kernel = MIXED;
    }
    open->launches += count;
    open->ns += ns;
    open->device_ns += ns * launch_width(launches) / WIDTH_ONE;
    if (launches->deadline_ns)
        open->deadline_ns = launches->deadline_ns;
}

void flight_add_other(struct stream *stream, uint64_t guess_ns)
{
    struct segment *open = &stream->flight->open;

    if (open->launches == 0)
        open->dispatch_ns = clock_ns();
    open->launches++;
    open->kernel = MIXED;
    open->ns += guess_ns;
}

void flight_close(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    uint32_t sequence = flight->next;

    flight->next = (uint32_t)((sequence + 1) & SEQUENCE_MASK);
    if (flight->open.launches == 0)
        return; /* what came before has its mark already */
    struct segment *segment = &flight->ring[flight->last++ % SEGMENTS];
    *segment = flight->open;
    segment->sequence = sequence;
    flight->open = (struct segment){0};
    flight->count += segment->launches;
    flight->unmarked = 0;
    session->flying |= UINT64_C(1) << (stream - session->streams);
    sched_issued(&sched, &session->sched, segment->launches, segment->ns, segment->device_ns,
                 segment->dispatch_ns);
}

static void charge(struct session *session, uint64_t ns)
{
    _Atomic uint64_t *counter = &session->stats->gpu_ns;

    if (!worker.policy.accounting)
        return;
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + ns,
                          memory_order_relaxed);
}

void flight_unmarked(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    const struct segment open = flight->open;

    flight->open = (struct segment){0};
    flight->unmarked += open.launches;
    if (open.launches == 0 || open.kernel == MIXED)
        return; /* copies: the SMs have no part in them */
    charge(session, open.ns);
    sched_issued(&sched, &session->sched, open.launches, open.ns, open.device_ns, open.dispatch_ns);
    sched_done(&sched, &session->sched, open.launches, open.ns, open.device_ns, open.device_ns);
}

bool flight_may_go_unmarked(const struct session *session, const struct stream *stream,
                            const struct launch *launch)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);
    const struct flight *flight = stream->flight;

    if (launch ? flight->open.launches > 0 : flight->open.ns > 0)
        return false;
    if (session->sched.inflight > 0 || flight->unmarked >= UNMARKED_MAX || parked_pressing())
        return false;
    if (atomic_load_explicit(&complete->position[stream - session->streams], memory_order_relaxed) <
        stream->signalled)
        return false;
    return !launch || (launch->kernel->mean_ns && launch->kernel->mean_ns <= UNMARKED_NS &&
                       !launch->deadline_ns);
}

/* ---- What has ended -------------------------------------------------------------------------- */

/* The host's time of a mark: not before the dispatch, not after now. */
static uint64_t host_time(uint64_t device, uint64_t dispatch, uint64_t now)
{
    if (!f.clock_known) {
        f.clock_known = true;
        f.offset = device - now;
        f.least_delay = 0;
        f.next_correct = now + CLOCK_EVERY;
    }
    uint64_t delay = (now + f.offset - device) & TIME_MASK;
    if (delay > TIME_MASK / 2) { /* after now: this one was seen sooner than any before */
        f.offset = device - now;
        delay = 0;
    } else if (delay > now - dispatch) {
        f.offset = device - dispatch;
        delay = now - dispatch;
    }
    if (delay < f.least_delay)
        f.least_delay = delay;
    if (now >= f.next_correct) {
        f.offset -= f.least_delay;
        f.least_delay = UINT64_MAX >> 1;
        f.next_correct = now + CLOCK_EVERY;
    }
    return now - delay;
}

/* The latest end of a kernel that fills the device, of those before `end`. */
static uint64_t wide_end_before(uint64_t end)
{
    uint64_t latest = 0;

    for (uint32_t i = 0; i < WIDE_ENDS; i++) {
        if (f.wide_end[i] < end && f.wide_end[i] > latest)
            latest = f.wide_end[i];
    }
    return latest;
}

static void kernel_learn(const struct session *session, const struct segment *segment, uint64_t ran)
{
    struct kernel *kernel =
        segment->kernel < session->kernel_room ? session->kernels[segment->kernel] : NULL;
    uint64_t each = ran / segment->launches;

    if (!kernel || kernel->serial != segment->serial)
        return; /* unloaded since */
    if (each == 0)
        each = 1;
    kernel->mean_ns = kernel->mean_ns ? (kernel->mean_ns * 3 + each) / 4 : each;
    if (kernel->mean_ns == 0)
        kernel->mean_ns = 1;
}

static void segment_end(struct session *session, struct stream *stream, struct segment *segment,
                        uint64_t end)
{
    struct flight *flight = stream->flight;
    bool wide = segment->device_ns * 2 >= segment->ns && segment->ns > 0;
    uint64_t start = segment->dispatch_ns > flight->end_ns ? segment->dispatch_ns : flight->end_ns;

    /* Kernels that fill the device run one after the other: it began when the one before it ended,
     * whosever that was. */
    if (wide && wide_end_before(end) > start)
        start = wide_end_before(end);
    uint64_t ran = end > start ? end - start : 0;
    if (wide)
        f.wide_end[f.wide_next++ % WIDE_ENDS] = end;
    flight->end_ns = end;
    flight->count -= segment->launches;
    flight->first++;
    if (segment->kernel != MIXED)
        kernel_learn(session, segment, ran);
    if (segment->deadline_ns && end > segment->deadline_ns) {
        _Atomic uint64_t *missed = &session->stats->deadlines_missed;
        atomic_store_explicit(missed, atomic_load_explicit(missed, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
    if (segment->ns > 0)
        charge(session, ran);
    sched_done(&sched, &session->sched, segment->launches, segment->ns, segment->device_ns,
               segment->ns
                   ? (uint64_t)((double)ran * (double)segment->device_ns / (double)segment->ns)
                   : 0);
}

static void flight_poll(struct session *session, struct stream *stream, uint64_t now)
{
    struct flight *flight = stream->flight;
    /* acquire: not before what the device wrote ahead of it */
    uint64_t mark = atomic_load_explicit(flight->mark, memory_order_acquire);
    uint64_t guessed = 0;
    uint32_t ended = 0;

    while (flight->first + ended != flight->last) {
        const struct segment *segment = &flight->ring[(flight->first + ended) % SEGMENTS];
        if (((mark - segment->sequence) & SEQUENCE_MASK) > SEQUENCE_MASK / 2)
            break;
        guessed += segment->ns;
        ended++;
    }
    if (ended == 0)
        return;
    const struct segment *oldest = &flight->ring[flight->first % SEGMENTS];
    uint64_t begin = oldest->dispatch_ns > flight->end_ns ? oldest->dispatch_ns : flight->end_ns;
    uint64_t end = host_time(mark >> MARK_SEQUENCE_BITS,
                             flight->ring[(flight->first + ended - 1) % SEGMENTS].dispatch_ns, now);
    uint64_t all = end > begin ? end - begin : 0, before = 0;
    /* Only the last mark is still there: the others ended in between, as was guessed. */
    while (ended-- > 0) {
        struct segment *segment = &flight->ring[flight->first % SEGMENTS];
        before += segment->ns;
        segment_end(session, stream, segment,
                    ended == 0 || guessed == 0
                        ? end
                        : begin + (uint64_t)((double)all * (double)before / (double)guessed));
    }
    if (flight->first == flight->last)
        session->flying &= ~(UINT64_C(1) << (stream - session->streams));
}

void flights_poll(struct session *session, uint64_t now)
{
    for (uint64_t left = session->flying; left; left &= left - 1)
        flight_poll(session, &session->streams[__builtin_ctzll(left)], now);
}

void flight_settle(struct session *session, struct stream *stream)
{
    struct flight *flight = stream->flight;
    uint64_t now = clock_ns();

    if (!flight || flight->first == flight->last)
        return;
    flight_poll(session, stream, now);
    while (flight->first != flight->last)
        segment_end(session, stream, &flight->ring[flight->first % SEGMENTS], now);
    session->flying &= ~(UINT64_C(1) << (stream - session->streams));
}

void flights_leave(struct session *session)
{
    session->flying = 0;
    sched_leave(&sched, &session->sched);
}
