/*
 * What it saves when a kernel signals its own end, by the size of its grid, in the primary context
 * and in a lane's; and what the code for it costs a kernel that does not signal. Each question_
 * function is run in a process of its own.
 */
#include "driver_facts_lane.h"

#define TRIPS_MOST  4000
#define TRIPS_LEAST 20
#define TRIPS_US    30e3 /* of round trips of one kind and grid */
#define ENOUGH_US   20e3 /* wider grids than one that takes so long are left out */
#define PIPED_HALF  32   /* launches; two halves are in flight */
#define PIPED_US    8e3
#define PIPED_TURNS 5
#define WORD        64

static const unsigned widths[] = {128, 1024};
static const unsigned grids[] = {1, 4, 16, 64, 132, 264, 1056, 4224, 16896};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct pair_us {
    double p50, p99;
};

static CUresult trips(enum signal_by how, unsigned blocks, unsigned threads, CUstream s,
                      struct pair_us *result)
{
    static double us[TRIPS_MOST];
    uint64_t value = 0;
    struct signaller t;
    double start, began;
    int n = 0;

    CK(signaller_new(&t, how, blocks, threads, WORD, s));
    for (int i = 0; i < 20; i++) {
        CK(signaller_launch(&t, ++value));
        CK(signaller_wait(&t, value));
    }
    for (began = start = now_us(); n < TRIPS_MOST && (n < TRIPS_LEAST || start - began < TRIPS_US);
         start = now_us()) {
        CK(signaller_launch(&t, ++value));
        CK(signaller_wait(&t, value));
        us[n++] = now_us() - start;
    }
    CK(signaller_free(&t));
    result->p50 = quantile(us, n, 0.5);
    result->p99 = us[(int)(0.99 * (n - 1))];
    return CUDA_SUCCESS;
}

/* A way that the driver refuses once is left out: 0. */
static CUresult trips_by_grid(const char *where, CUstream s)
{
    static const enum signal_by ways[] = {SIGNAL_OWN, SIGNAL_AFTER, SIGNAL_WRITE, SIGNAL_SYNC};

    int refused[COUNT(ways)] = {0};

    printf("  %s; p50 and p99 in us\n  threads blocks      own store   completing kernel"
           "     write node    launch + sync   own by completing: p50  p99\n",
           where);
    for (size_t w = 0; w < COUNT(widths); w++) {
        for (size_t g = 0; g < COUNT(grids); g++) {
            struct pair_us r[COUNT(ways)];

            for (size_t i = 0; i < COUNT(ways); i++) {
                r[i] = (struct pair_us){0, 0};
                refused[i] = refused[i] || trips(ways[i], grids[g], widths[w], s, &r[i]);
            }
            printf("  %7u %6u", widths[w], grids[g]);
            for (size_t i = 0; i < COUNT(ways); i++)
                printf("  %7.2f %7.2f", r[i].p50, r[i].p99);
            printf("   %5.2f %5.2f%s\n", r[0].p50 / r[1].p50, r[0].p99 / r[1].p99,
                   r[0].p50 < r[1].p50 ? "" : "  does not pay");
            if (r[0].p50 > ENOUGH_US)
                break;
        }
    }
    return CUDA_SUCCESS;
}

/* Launches a second, 32 to 64 in flight. */
static CUresult piped_once(struct signaller *t, CUevent *half, double *rate)
{
    static uint64_t value;
    double began = now_us();
    int turn = 0;

    do {
        for (int i = 0; i < PIPED_HALF; i++)
            CK(signaller_launch(t, ++value));
        CK(cuEventRecord(half[turn & 1], t->stream));
        if (turn++)
            CK(cuEventSynchronize(half[turn & 1]));
    } while (now_us() - began < PIPED_US);
    CK(cuStreamSynchronize(t->stream));
    *rate = turn * PIPED_HALF / (now_us() - began) * 1e3;
    return CUDA_SUCCESS;
}

/* The three by turns, so that a drift of the clocks is in all of them. */
static CUresult piped_by_grid(const char *where, CUstream s)
{
    static const enum signal_by ways[] = {SIGNAL_NONE, SIGNAL_OFF, SIGNAL_OWN};
    double rate[COUNT(ways)][PIPED_TURNS];
    struct signaller t[COUNT(ways)];
    CUevent half[2];

    for (int i = 0; i < 2; i++)
        CK(cuEventCreate(&half[i], CU_EVENT_DISABLE_TIMING));
    printf("  %s, 64 in flight; launches in k/s\n"
           "  threads blocks   without it   it is off      it is on   off, on by without\n",
           where);
    for (size_t w = 0; w < COUNT(widths); w++) {
        for (size_t g = 0; g < COUNT(grids); g++) {
            for (size_t i = 0; i < COUNT(ways); i++)
                CK(signaller_new(&t[i], ways[i], grids[g], widths[w], WORD, s));
            for (int turn = 0; turn < PIPED_TURNS; turn++)
                for (size_t i = 0; i < COUNT(ways); i++)
                    CK(piped_once(&t[i], half, &rate[i][turn]));
            printf("  %7u %6u", widths[w], grids[g]);
            for (size_t i = 0; i < COUNT(ways); i++) {
                CK(signaller_free(&t[i]));
                printf("  %10.1f", quantile(rate[i], PIPED_TURNS, 0.5));
            }
            printf("   %5.3f %5.3f\n", rate[1][PIPED_TURNS / 2] / rate[0][PIPED_TURNS / 2],
                   rate[2][PIPED_TURNS / 2] / rate[0][PIPED_TURNS / 2]);
            if (1e3 / rate[0][PIPED_TURNS / 2] > ENOUGH_US)
                break;
        }
    }
    return CUDA_SUCCESS;
}

CUresult question_store(void)
{
    CUstream s;

    CK(own_open());
    CK(stream_new(&s));
    CK(trips_by_grid("primary context", s));
    return piped_by_grid("primary context", s);
}

CUresult question_store_lane(void)
{
    struct lane lane;
    CUstream s;

    CK(own_open());
    CK(lane_new(&lane));
    CK(cuCtxSetCurrent(lane.context));
    CK(cuGreenCtxStreamCreate(&s, lane.green, CU_STREAM_NON_BLOCKING, 0));
    CK(trips_by_grid("green context of all SMs", s));
    return piped_by_grid("green context of all SMs", s);
}
