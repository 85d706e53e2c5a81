/*
 * first.c - what first products of a kind cost: the call itself, and another tenant that launches
 * and waits all the time meanwhile. The server is one that has not been asked for a product yet.
 *
 *   cc -O2 -Iinclude -o first bench/cublas/first.c -Lbuild/lib -lgshare -lpthread
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gshare.h"

#define MOST 4096u

static const char nop_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry nop(.param .u32 n) { ret; }\n";

static _Atomic int stop;
static _Atomic uint64_t worst_ns, trips;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(const char *what, gs_status status)
{
    if (status == GS_OK)
        return;
    fprintf(stderr, "first: %s: %s\n", what, gs_last_error_message());
    exit(1);
}
#define MUST(call) must(#call, call)

static void *other_main(void *unused)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 32);
    uint32_t n = 0;
    gs_session session;
    gs_module module;
    gs_kernel kernel;

    (void)unused;
    MUST(gs_attach(NULL, &session));
    MUST(gs_module_load(session, nop_ptx, 0, &module));
    MUST(gs_kernel_get(module, "nop", &kernel));
    while (!atomic_load(&stop)) {
        const uint64_t start = now_ns();

        MUST(gs_launch(NULL, kernel, &config, (void *[]){&n}));
        MUST(gs_sync(session));
        const uint64_t took = now_ns() - start;
        if (took > atomic_load(&worst_ns))
            atomic_store(&worst_ns, took);
        atomic_fetch_add(&trips, 1);
    }
    gs_detach(session);
    return NULL;
}

int main(void)
{
    static const struct {
        const char *name;
        gs_gemm_type type;
        gs_gemm_compute compute;
    } types[] = {{"f16", GS_GEMM_F16, GS_GEMM_COMPUTE_F32},
                 {"bf16", GS_GEMM_BF16, GS_GEMM_COMPUTE_F32},
                 {"tf32", GS_GEMM_F32, GS_GEMM_COMPUTE_TF32},
                 {"f32", GS_GEMM_F32, GS_GEMM_COMPUTE_F32},
                 {"f64", GS_GEMM_F64, GS_GEMM_COMPUTE_F64}};
    static const unsigned sizes[] = {1024, 1024, 1000, 256, 4096};
    gs_gemm_params p = GS_GEMM_PARAMS_INIT;
    gs_session session;
    pthread_t other;

    MUST(gs_attach(NULL, &session));
    MUST(gs_malloc(session, (size_t)MOST * MOST * 8, &p.a.at));
    MUST(gs_malloc(session, (size_t)MOST * MOST * 8, &p.b.at));
    MUST(gs_malloc(session, (size_t)MOST * MOST * 8, &p.c.at));
    pthread_create(&other, NULL, other_main, NULL);
    while (atomic_load(&trips) < 1000)
        ;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            p.inputs = p.output = types[i].type;
            p.compute = types[i].compute;
            p.m = p.n = p.k = sizes[j];
            p.a.ld = p.b.ld = p.c.ld = sizes[j];
            atomic_store(&worst_ns, 0);
            const uint64_t start = now_ns();
            MUST(gs_gemm(session, &p, NULL));
            const uint64_t called = now_ns();
            MUST(gs_sync(session));
            printf("%-4s %5u: the call %9.1f us, done %9.1f us; another's worst trip %9.1f us\n",
                   types[i].name, sizes[j], (double)(called - start) * 1e-3,
                   (double)(now_ns() - start) * 1e-3, (double)atomic_load(&worst_ns) * 1e-3);
        }
    }
    atomic_store(&stop, 1);
    pthread_join(other, NULL);
    gs_detach(session);
    return 0;
}
