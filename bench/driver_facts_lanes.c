/*
 * Dispatch lanes: threads that launch for others, each in a green context of all SMs of its own.
 * How many launches they make for tenants that wait, and what a lane costs. Each question_ function
 * is run in a process of its own.
 */
#include "driver_facts_lane.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sched.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ------------------------------------------------- 21: lanes for tenants that wait */

#define TENANTS_MAX 16
#define SERVE_US    200e3
#define SAMPLES_MAX 200000
#define SPINS       4000 /* then the processor is offered to others: there may be too few */
#define FIRST_WORD  64   /* the tenants' completion words, a cache line each */

static struct tenant {
    _Alignas(64) _Atomic uint64_t posted; /* the number of the launch that the tenant asks for */
    _Alignas(64) struct told told;
    CUstream stream;
    uint64_t taken;
    pthread_t thread;
    int word, n;
    double *us;
} tenants[TENANTS_MAX];

static struct dispatcher {
    struct lane lane;
    pthread_t thread;
    unsigned index, step, tenant_count; /* serves each step-th tenant from its index on */
    enum tell how;
    CUresult result;
} dispatchers[LANES_MAX];

static _Atomic int dispatchers_ready, dispatchers_stop, tenants_go, tenants_stop;

/* What a thread does between two looks at a word. With hyperthreads a thread that spins takes the
 * other one's execution units. */
enum relax {
    RELAX_NONE,
    RELAX_PAUSE,
    RELAX_UMWAIT, /* tenants wait for a store to the word's cache line; dispatchers pause */
};

static enum relax relax;

static int has_waitpkg(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & 1u << 5;
}

/* For 10 us at most, in the lighter state (C0.1), unless the word has changed. */
__attribute__((target("waitpkg"))) static void word_await(_Atomic uint64_t *word, uint64_t is)
{
    _umonitor((void *)word);
    if (atomic_load_explicit(word, memory_order_acquire) == is)
        _umwait(1, __rdtsc() + 20000);
}

static void pause_or_yield(unsigned *spins)
{
    if (relax != RELAX_NONE)
        _mm_pause();
    if (++*spins % SPINS == 0)
        sched_yield();
}

static void tenant_pause(_Atomic uint64_t *word, uint64_t is, unsigned *spins)
{
    if (relax == RELAX_UMWAIT)
        word_await(word, is);
    else
        pause_or_yield(spins);
}

static void *tenant_main(void *unused)
{
    struct tenant *t = unused;
    unsigned spins = 0;
    uint64_t number = 0;

    while (!atomic_load_explicit(&tenants_go, memory_order_acquire))
        sched_yield();
    while (!atomic_load_explicit(&tenants_stop, memory_order_relaxed)) {
        double start = now_us();

        atomic_store_explicit(&t->posted, ++number, memory_order_release);
        while (atomic_load_explicit(&words[t->word], memory_order_acquire) != number)
            tenant_pause(&words[t->word], number - 1, &spins);
        if (t->n < SAMPLES_MAX)
            t->us[t->n++] = now_us() - start;
    }
    return NULL;
}

static CUresult dispatch(struct dispatcher *d)
{
    unsigned spins = 0;

    CK(cuCtxSetCurrent(d->lane.context));
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(cuGreenCtxStreamCreate(&tenants[i].stream, d->lane.green, CU_STREAM_NON_BLOCKING, 0));
        CK(told_new(&tenants[i].told, d->how, 1, 1, tenants[i].word, tenants[i].stream));
        tenants[i].taken = 0;
    }
    dispatchers_ready++;
    while (!atomic_load_explicit(&dispatchers_stop, memory_order_acquire)) {
        for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
            struct tenant *t = &tenants[i];
            uint64_t posted = atomic_load_explicit(&t->posted, memory_order_acquire);

            if (posted == t->taken)
                continue;
            t->taken = posted;
            CK(told_launch(&t->told, posted));
        }
        pause_or_yield(&spins);
    }
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(told_free(&tenants[i].told));
        CK(cuStreamDestroy(tenants[i].stream));
    }
    return CUDA_SUCCESS;
}

static void *dispatcher_main(void *arg)
{
    struct dispatcher *d = arg;

    d->result = dispatch(d);
    if (d->result)
        exit(1); /* tenants would wait for it; the call that failed is in the output */
    return NULL;
}

/* The wait is for threads that make streams and graphs; the tenants run for SERVE_US. */
static CUresult serve(unsigned lane_count, unsigned tenant_count, enum tell how)
{
    static double us[TENANTS_MAX * (size_t)SAMPLES_MAX];
    double began, passed, p50, worst = 0;
    size_t n = 0;

    dispatchers_ready = dispatchers_stop = tenants_go = tenants_stop = 0;
    for (unsigned i = 0; i < tenant_count; i++) {
        tenants[i].posted = tenants[i].n = 0;
        tenants[i].word = FIRST_WORD + 8 * (int)i;
    }
    for (unsigned i = 0; i < lane_count; i++) {
        dispatchers[i].index = i;
        dispatchers[i].step = lane_count;
        dispatchers[i].tenant_count = tenant_count;
        dispatchers[i].how = how;
        pthread_create(&dispatchers[i].thread, NULL, dispatcher_main, &dispatchers[i]);
    }
    for (unsigned i = 0; i < tenant_count; i++)
        pthread_create(&tenants[i].thread, NULL, tenant_main, &tenants[i]);
    while (dispatchers_ready < (int)lane_count)
        sched_yield();
    began = now_us();
    atomic_store_explicit(&tenants_go, 1, memory_order_release);
    usleep((unsigned)SERVE_US);
    atomic_store(&tenants_stop, 1);
    for (unsigned i = 0; i < tenant_count; i++)
        pthread_join(tenants[i].thread, NULL);
    passed = now_us() - began;
    atomic_store_explicit(&dispatchers_stop, 1, memory_order_release);
    for (unsigned i = 0; i < lane_count; i++)
        pthread_join(dispatchers[i].thread, NULL);
    for (unsigned i = 0; i < tenant_count; i++) {
        memcpy(us + n, tenants[i].us, sizeof(*us) * tenants[i].n);
        n += tenants[i].n;
        p50 = quantile(tenants[i].us, tenants[i].n, 0.5);
        worst = p50 > worst ? p50 : worst;
    }
    p50 = quantile(us, (int)n, 0.5); /* sorts them */
    printf("  %7.1f k/s %6.2f %6.2f %6.2f", n / passed * 1e3, p50, worst,
           us[(size_t)(0.99 * (n - 1))]);
    return CUDA_SUCCESS;
}

static CUresult lanes_open(void)
{
    CK(own_open());
    for (int i = 0; i < LANES_MAX; i++)
        CK(lane_new(&dispatchers[i].lane));
    for (int i = 0; i < TENANTS_MAX; i++) {
        tenants[i].us = malloc(sizeof(double) * SAMPLES_MAX);
        if (!tenants[i].us)
            return failed("malloc", CUDA_ERROR_OUT_OF_MEMORY, __LINE__);
    }
    return CUDA_SUCCESS;
}

CUresult question_lanes(void)
{
    static const unsigned lane_counts[] = {1, 2, 3, 4, 6, 8}, tenant_counts[] = {1, 2, 4, 8, 16};

    CK(lanes_open());
    printf("  %ld processors; launches, p50, the worst tenant's p50 and p99 in us\n"
           "  tenants lanes       own store                          completing kernel\n",
           sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t t = 0; t < COUNT(tenant_counts); t++) {
        for (size_t l = 0; l < COUNT(lane_counts) && lane_counts[l] <= tenant_counts[t]; l++) {
            printf("  %7u %5u", tenant_counts[t], lane_counts[l]);
            CK(serve(lane_counts[l], tenant_counts[t], TELL_OWN));
            CK(serve(lane_counts[l], tenant_counts[t], TELL_AFTER));
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}

/* The same with the own store alone, by what a thread does that waits. */
CUresult question_lanes_relax(void)
{
    static const unsigned tenant_counts[] = {1, 4, 8, 16}, tenants_a_lane[] = {4, 2, 1};

    CK(lanes_open());
    printf("  umwait: %s; launches, p50, the worst tenant's p50 and p99 in us\n"
           "  tenants lanes            spins                             pauses                "
           "            umwait\n",
           has_waitpkg() ? "yes" : "the processor has none");
    for (size_t t = 0; t < COUNT(tenant_counts); t++) {
        for (size_t l = 0; l < COUNT(tenants_a_lane); l++) {
            unsigned lanes = tenant_counts[t] / tenants_a_lane[l];

            if (lanes == 0 || lanes > LANES_MAX)
                continue;
            printf("  %7u %5u", tenant_counts[t], lanes);
            for (relax = RELAX_NONE; relax <= (has_waitpkg() ? RELAX_UMWAIT : RELAX_PAUSE); relax++)
                CK(serve(lanes, tenant_counts[t], TELL_OWN));
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------- 23: what a lane costs */

/* Bytes of this process that are in memory. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static CUresult lanes_make(int split)
{
    struct lane lane[LANES_MAX];
    struct told told;
    CUdevResourceDesc desc;
    CUstream s[LANES_MAX];
    double start, described, made, first, host = resident();
    long long began = memory_used();
    CUresult result;

    printf("  from %s\n", split ? "all groups of the finest split" : "all SMs, not split");
    for (int i = 0; i < LANES_MAX; i++) {
        long long used = memory_used();
        double had = resident();

        start = now_us();
        result = lane_describe(&desc, split);
        described = now_us() - start;
        start = now_us();
        if (!result)
            result = cuGreenCtxCreate(&lane[i].green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM);
        made = now_us() - start;
        if (result) {
            failed("describing or creating it", result, __LINE__);
            return CUDA_SUCCESS; /* that it cannot be made is an answer too */
        }
        start = now_us();
        CK(cuCtxFromGreenCtx(&lane[i].context, lane[i].green));
        CK(cuCtxSetCurrent(lane[i].context));
        CK(cuGreenCtxStreamCreate(&s[i], lane[i].green, CU_STREAM_NON_BLOCKING, 0));
        CK(told_new(&told, TELL_OWN, 1, 1, FIRST_WORD, s[i]));
        CK(told_launch(&told, 1));
        CK(told_wait(&told, 1));
        first = now_us() - start;
        CK(told_free(&told));
        CK(cuCtxSetCurrent(context));
        printf("  lane %d: described in %6.1f us, made in %7.1f; stream, graph and first launch "
               "%7.1f; device %5.2f MiB, host %5.2f MiB\n",
               i + 1, described, made, first, (double)(memory_used() - used) / MIB,
               (resident() - had) / MIB);
    }
    for (int i = 0; i < LANES_MAX; i++) {
        CK(cuStreamDestroy(s[i]));
        CK(cuGreenCtxDestroy(lane[i].green));
    }
    printf("  all destroyed, still missing: device %5.2f MiB, host %5.2f MiB\n",
           (double)(memory_used() - began) / MIB, (resident() - host) / MIB);
    return CUDA_SUCCESS;
}

CUresult question_lane_cost(void)
{
    CK(own_open());
    CK(lanes_make(0));
    CK(lanes_make(0));
    return lanes_make(1);
}
