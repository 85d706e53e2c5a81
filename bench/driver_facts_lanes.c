/*
 * Dispatch lanes: threads that launch for others, each in a green context of all SMs of its own.
 * How many launches they make for tenants that wait, and what a lane costs. Each question_ function
 * is run in a process of its own.
 */
#include "driver_facts_serve.h"

#include <cpuid.h>

/* ------------------------------------------------- 21: lanes for tenants that wait */

/* A tenant's; only its dispatcher writes here. */
static struct {
    _Alignas(64) struct signaller signaller;
    CUstream stream;
} launches[TENANTS_MAX];

/* how: an enum signal_by. */
static CUresult lanes_dispatch(const struct dispatcher *d)
{
    unsigned spins = 0;

    CK(cuCtxSetCurrent(d->lane.context));
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(cuGreenCtxStreamCreate(&launches[i].stream, d->lane.green, CU_STREAM_NON_BLOCKING, 0));
        CK(signaller_new(&launches[i].signaller, (enum signal_by)d->how, 1, 1, tenants[i].word,
                         launches[i].stream));
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
            CK(signaller_launch(&launches[i].signaller, posted));
        }
        pause_or_yield(&spins);
    }
    for (unsigned i = d->index; i < d->tenant_count; i += d->step) {
        CK(signaller_free(&launches[i].signaller));
        CK(cuStreamDestroy(launches[i].stream));
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
            serve(lane_counts[l], tenant_counts[t], lanes_dispatch, SIGNAL_OWN);
            serve(lane_counts[l], tenant_counts[t], lanes_dispatch, SIGNAL_AFTER);
            printf("\n");
        }
    }
    return CUDA_SUCCESS;
}

static int has_waitpkg(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & 1u << 5;
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
                serve(lanes, tenant_counts[t], lanes_dispatch, SIGNAL_OWN);
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
    struct signaller signaller;
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
        CK(signaller_new(&signaller, SIGNAL_OWN, 1, 1, FIRST_WORD, s[i]));
        CK(signaller_launch(&signaller, 1));
        CK(signaller_wait(&signaller, 1));
        first = now_us() - start;
        CK(signaller_free(&signaller));
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
