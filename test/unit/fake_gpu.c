/*
 * fake_gpu.c - a device that takes kernels as a GPU does, where this matters to who gets how much
 * of it.
 *
 * A stream's kernels run one after the other, with a gap of a microsecond. The first of each stream
 * is offered to the device, which fills free places with units of what came first, by priority and
 * then in the order of arrival; only when all of a kernel's units have been placed does the next
 * kernel get any. So a kernel's last units run beside the next one's first, a stream's next kernel
 * goes behind what other streams have offered meanwhile, and a fence finds no place as long as
 * another kernel has units to place, unless its priority is higher. Units share the device: they
 * run faster where few are resident, up to four times, unless a test says otherwise. Kernels are of
 * many short units, or of one long one for each of the places that they take.
 */
#include "fake_gpu.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE     256u
#define UNIT_NS   15000.0 /* of a unit while the device is full */
#define SPEED_MAX 4.0
#define GAP_NS    1000u
#define FENCE_NS  1000u

struct kernel {
    _Atomic uint64_t *fence; /* NULL: not a fence */
    uint64_t low;
    uint64_t when; /* known to the device; then: offered */
    double ns;
    double unit_ns; /* of each of its units on a full device */
    uint32_t units, placed, ended;
    int priority;
    bool offered;
};

struct unit {
    double end; /* in the device's own time, which runs as fast as units do */
    unsigned stream;
};

/* What shares SMs. */
struct gpu {
    unsigned streams; /* those at and beyond this have had nothing */
    struct kernel queue[GPU_STREAMS][QUEUE];
    uint32_t first[GPU_STREAMS], last[GPU_STREAMS];
    uint64_t ready[GPU_STREAMS];   /* when the stream's first may be offered */
    uint64_t fencing[GPU_STREAMS]; /* its first is a fence that ends then; 0: none */
    double done[GPU_STREAMS];
    struct unit unit[GPU_SLOTS]; /* resident, the one that ends first last */
    uint32_t resident;
    uint64_t now;
    double exact, own;
    uint64_t dice;
};

static struct gpu parts[GPU_PARTS], *gpu = parts; /* the one that it is about */
static unsigned part_of[GPU_STREAMS];
static double speed_max;
static double drift;

void gpu_reset(uint64_t now)
{
    speed_max = SPEED_MAX;
    memset(parts, 0, sizeof(parts));
    memset(part_of, 0, sizeof(part_of));
    for (unsigned i = 0; i < GPU_PARTS; i++) {
        parts[i].now = now;
        parts[i].exact = (double)now;
    }
}

void gpu_part(unsigned stream, unsigned part)
{
    part_of[stream] = part;
}

static struct kernel *queue_add(unsigned stream, uint64_t when, int priority)
{
    gpu = &parts[part_of[stream]];
    struct kernel *kernel = &gpu->queue[stream][gpu->last[stream]++ % QUEUE];

    if (stream >= gpu->streams)
        gpu->streams = stream + 1;
    if (gpu->last[stream] - gpu->first[stream] > QUEUE)
        abort();
    *kernel = (struct kernel){.when = when, .priority = priority};
    return kernel;
}

void gpu_kernel(unsigned stream, uint64_t when, uint64_t ns, int priority)
{
    struct kernel *kernel = queue_add(stream, when, priority);

    kernel->ns = (double)ns;
    kernel->unit_ns = UNIT_NS;
    kernel->units = (uint32_t)((double)ns / UNIT_NS * GPU_SLOTS + 0.5);
    if (kernel->units == 0)
        kernel->units = 1;
}

static double speed_of(uint32_t resident)
{
    double most = (double)GPU_SLOTS / resident;

    return most < speed_max ? most : speed_max;
}

void gpu_grid(unsigned stream, uint64_t when, uint64_t ns, uint32_t units, int priority)
{
    struct kernel *kernel = queue_add(stream, when, priority);

    kernel->ns = (double)ns;
    kernel->unit_ns = (double)ns * speed_of(units);
    kernel->units = units;
}

void gpu_speed(double most)
{
    speed_max = most;
}

void gpu_drift(double part)
{
    drift = part;
}

/* What the device's clock says at a time. */
static uint64_t clock_at(uint64_t now)
{
    return now + (uint64_t)(int64_t)((double)now * drift);
}

void gpu_fence(unsigned stream, uint64_t when, _Atomic uint64_t *fence, uint64_t low, int priority)
{
    struct kernel *kernel = queue_add(stream, when, priority);

    kernel->fence = fence;
    kernel->low = low;
}

double gpu_done(unsigned stream)
{
    return parts[part_of[stream]].done[stream];
}

/* ---- What happens ---------------------------------------------------------------------------- */

static struct kernel *first_of(unsigned stream)
{
    return gpu->first[stream] == gpu->last[stream]
               ? NULL
               : &gpu->queue[stream][gpu->first[stream] % QUEUE];
}

static void first_ends(unsigned stream)
{
    gpu->first[stream]++;
    gpu->ready[stream] = gpu->now + GAP_NS;
}

/* The offered kernel that goes first: it has units to place, or is a fence. */
static struct kernel *next_to_place(unsigned *stream)
{
    struct kernel *best = NULL;

    for (unsigned i = 0; i < gpu->streams; i++) {
        struct kernel *kernel = first_of(i);
        if (!kernel || !kernel->offered || gpu->fencing[i] ||
            (!kernel->fence && kernel->placed == kernel->units))
            continue;
        if (!best || kernel->priority < best->priority ||
            (kernel->priority == best->priority && kernel->when < best->when)) {
            best = kernel;
            *stream = i;
        }
    }
    return best;
}

static void unit_place(struct kernel *kernel, unsigned stream)
{
    /* Units of one kernel differ a little, so that not all end at a time. */
    gpu->dice = gpu->dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    double length = kernel->unit_ns * (0.95 + 0.1 * (double)(gpu->dice >> 40) / (double)(1 << 24));
    struct unit unit = {gpu->own + length, stream};
    uint32_t at = gpu->resident++;

    for (; at > 0 && gpu->unit[at - 1].end < unit.end; at--)
        gpu->unit[at] = gpu->unit[at - 1];
    gpu->unit[at] = unit;
    kernel->placed++;
}

static void places_fill(void)
{
    struct kernel *kernel;
    unsigned stream = 0;

    while (gpu->resident < GPU_SLOTS && (kernel = next_to_place(&stream))) {
        if (kernel->fence)
            gpu->fencing[stream] = gpu->now + FENCE_NS;
        while (!kernel->fence && gpu->resident < GPU_SLOTS && kernel->placed < kernel->units)
            unit_place(kernel, stream);
    }
}

static void unit_ends(void)
{
    unsigned stream = gpu->unit[--gpu->resident].stream;
    struct kernel *kernel = first_of(stream);

    if (++kernel->ended < kernel->units)
        return;
    gpu->done[stream] += kernel->ns;
    first_ends(stream);
}

/* Streams' firsts are offered, fences are written. Returns when something of that happens next. */
static uint64_t streams_step(void)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < gpu->streams; i++) {
        if (gpu->fencing[i] && gpu->fencing[i] <= gpu->now) {
            struct kernel *kernel = first_of(i);
            atomic_store_explicit(kernel->fence, clock_at(gpu->now) << 24 | kernel->low,
                                  memory_order_release);
            gpu->fencing[i] = 0;
            first_ends(i);
        }
        struct kernel *kernel = first_of(i);
        if (gpu->fencing[i]) {
            next = gpu->fencing[i] < next ? gpu->fencing[i] : next;
        } else if (kernel && !kernel->offered) {
            uint64_t at = kernel->when > gpu->ready[i] ? kernel->when : gpu->ready[i];
            if (at <= gpu->now) {
                kernel->offered = true;
                kernel->when = at;
            } else if (at < next) {
                next = at;
            }
        }
    }
    return next;
}

static void part_run(uint64_t until)
{
    for (;;) {
        uint64_t next = streams_step();
        places_fill();
        for (unsigned i = 0; i < gpu->streams; i++) {
            if (gpu->fencing[i] && gpu->fencing[i] < next)
                next = gpu->fencing[i];
        }
        double end = gpu->resident > 0
                         ? gpu->exact + (gpu->unit[gpu->resident - 1].end - gpu->own) /
                                            speed_of(gpu->resident)
                         : 1e300;
        double to = (double)(next < until ? next : until);
        bool unit = end <= to;
        if (unit)
            to = end;
        if (to > gpu->exact) {
            if (gpu->resident > 0)
                gpu->own += (to - gpu->exact) * speed_of(gpu->resident);
            gpu->exact = to;
            gpu->now = (uint64_t)to;
        }
        if (unit)
            unit_ends();
        else if (next >= until)
            break;
    }
    gpu->now = until;
    gpu->exact = (double)until;
}

void gpu_run(uint64_t until)
{
    for (unsigned i = 0; i < GPU_PARTS; i++) {
        gpu = &parts[i];
        part_run(until);
    }
}
