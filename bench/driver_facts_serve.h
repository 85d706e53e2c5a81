/*
 * Tenants that wait for their launches, and the threads that make these for them: the load of the
 * questions about dispatch lanes. Each tenant asks for one launch at a time, and polls the word in
 * which its kernel signals its end.
 */
#ifndef DRIVER_FACTS_SERVE_H
#define DRIVER_FACTS_SERVE_H

#include "driver_facts_lane.h"

#include <immintrin.h>
#include <sched.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TENANTS_MAX  16
#define SERVE_US     200e3
#define SAMPLES_MAX  200000
#define SPINS        4000 /* then the processor is offered to others: there may be too few */
#define FIRST_WORD   64   /* the tenants' completion words, a cache line each */

static struct tenant {
    _Alignas(64) _Atomic uint64_t posted; /* the number of the launch that the tenant asks for */
    _Alignas(64) uint64_t taken;          /* the last that its dispatcher has seen */
    pthread_t thread;
    int word, n;
    double *us;
} tenants[TENANTS_MAX];

static struct dispatcher {
    struct lane lane;
    pthread_t thread;
    unsigned index, step, tenant_count; /* serves each step-th tenant from its index on */
    CUresult (*dispatch)(const struct dispatcher *d); /* until dispatchers_stop */
    int how;                                          /* the question's own */
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

static void *dispatcher_main(void *arg)
{
    struct dispatcher *d = arg;

    if (d->dispatch(d))
        exit(1); /* tenants would wait for it; the call that failed is in the output */
    return NULL;
}

/* The wait is for threads that make streams and graphs; the tenants run for SERVE_US. */
static void serve(unsigned lane_count, unsigned tenant_count,
                  CUresult (*dispatch)(const struct dispatcher *d), int how)
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
        struct dispatcher *d = &dispatchers[i];

        d->index = i;
        d->step = lane_count;
        d->tenant_count = tenant_count;
        d->dispatch = dispatch;
        d->how = how;
        pthread_create(&d->thread, NULL, dispatcher_main, d);
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

#endif
