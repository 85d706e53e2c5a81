/*
 * test_chaos.c - a hostile tenant, and killed processes, beside eight honest tenants whose results
 * are checked after each round against known answers. Four of these are at rest while the round's
 * harm is done: they must not be lost, whatever it is. Two of them share memory: what one has
 * written before the harm the other reads after it. Four compute all the time: their results are
 * right, or they are told that they were interrupted, and attach anew. Two of the latter have their
 * unfinished work run again (GS_ON_FAULT_REPLAY): they are seldom interrupted.
 *
 * GS_CHAOS_ROUNDS: how many rounds (`make chaos`); a table of the kinds of harm is printed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bystander.h"
#include "harness/harness.h"
#include "raw_client.h"

#define RESTING 4u
#define WORKING 4u
#define N       1024u
#define ROUNDS  40u         /* where nothing else is asked for */
#define SLOW_NS 5000000000u /* a round that takes longer is printed */

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static const char hostile_ptx[] =
    HEAD ".visible .entry trap() { trap; }\n"
         ".visible .entry endless(.param .u64 at)\n"
         "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [at];\n"
         "again: ld.volatile.global.u32 %r, [%rd]; setp.ne.u32 %p, %r, 77; @%p bra again; ret; }\n"
         ".visible .entry deadlock()\n"
         "{ .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n"
         "  @%p bra other; bar.sync 0; bar.sync 1; ret; other: bar.sync 1, 64; bar.sync 0, 64;\n"
         "  bar.sync 2, 128; ret; }\n"
         ".visible .entry stray(.param .u64 at, .param .u32 seed)\n"
         "{ .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %rd0, [at];\n"
         "  ld.param.u32 %r0, [seed]; mov.u32 %r1, 200;\n"
         "again: mad.lo.u32 %r0, %r0, 1664525, 1013904223; cvt.u64.u32 %rd1, %r0;\n"
         "  shl.b64 %rd1, %rd1, 6; and.b64 %rd1, %rd1, -16; xor.b64 %rd2, %rd0, %rd1;\n"
         "  st.global.u32 [%rd2], %r0; ld.u32 %r2, [%rd2]; red.global.add.u32 [%rd2], %r2;\n"
         "  sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra again; ret; }\n"
         ".visible .entry misaligned(.param .u64 at)\n"
         "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd+2], 1; ret; }\n"
         ".visible .entry beyond_shared()\n"
         "{ .shared .align 4 .b8 s[64]; .reg .b32 %r; mov.u32 %r, s; add.u32 %r, %r, 0x4000000;\n"
         "  st.shared.u32 [%r], 1; ret; }\n";

static const char *const hostile_kernels[] = {"trap",  "endless",    "deadlock",
                                              "stray", "misaligned", "beyond_shared"};

/* ---- The honest ---- */

struct honest {
    _Atomic uint32_t round; /* whoever is at rest looks at its memory when this has changed */
    _Atomic uint32_t stop;
    struct gate exported;
    gs_mem_handle handle;    /* of the memory that two of those at rest share */
    _Atomic uint32_t looked; /* the last round for which the one that does not write has looked */
    struct {
        _Alignas(64) _Atomic uint32_t seen; /* the last round for which it has looked */
        _Atomic uint64_t checked;
        _Atomic uint64_t interrupted;
    } row[RESTING + WORKING];
};

struct self {
    struct honest *all;
    unsigned number;
};

/* Of those at rest, the one that lends memory, and the one that borrows it. */
#define LENDER   (RESTING - 2)
#define BORROWER (RESTING - 1)

/* Whether it is this one who writes in the round. The two that share memory take turns, the lender
 * first: whoever does not write has looked before the other writes. */
static bool resting_turn(struct honest *all, unsigned number, uint32_t round)
{
    if (number < LENDER)
        return true;
    if ((number == LENDER) == round % 2) {
        atomic_store(&all->looked, round);
        return false;
    }
    CHECK_WITHIN(30000, atomic_load(&all->looked) == round);
    return true;
}

static gs_devptr resting_memory(gs_session session, gs_kernel fill, struct honest *all,
                                unsigned number, uint32_t value)
{
    uint32_t n = N;
    gs_devptr data;

    if (number == BORROWER) {
        gate_wait(&all->exported, 1);
        CHECK_OK(gs_mem_import(session, &all->handle, &data, NULL));
        return data;
    }
    CHECK_OK(gs_malloc(session, number == LENDER ? 2u << 20 : N * sizeof(uint32_t), &data));
    CHECK_OK(kernels_launch(NULL, fill, N / 128, 128, (void *[]){&data, &value, &n}));
    CHECK_OK(gs_sync(session));
    if (number == LENDER) {
        CHECK_OK(gs_mem_export(session, data, GS_EXPORT_TO_USER, &all->handle));
        gate_pass(&all->exported);
    }
    return data;
}

static void resting_run(void *argument)
{
    const struct self *self = argument;
    struct honest *all = self->all;
    const unsigned family = self->number == BORROWER ? LENDER : self->number;
    uint32_t words[N], value = 1000000 * (family + 1), n = N, seen = 0;
    gs_session session;
    gs_devptr data;
    gs_kernel fill;

    CHECK_OK(gs_attach(NULL, &session));
    fill = kernels_get(kernels_load(session), "fill");
    data = resting_memory(session, fill, all, self->number, value);
    while (!atomic_load(&all->stop)) {
        if (atomic_load(&all->round) == seen) {
            atomic_store(&all->row[self->number].seen, seen);
            test_pause();
            continue;
        }
        seen = atomic_load(&all->round);
        CHECK_OK(gs_memcpy_dtoh(session, words, data, sizeof(words)));
        for (uint32_t i = 0; i < N; i++)
            CHECK_EQUAL(words[i], value + i);
        value++;
        if (resting_turn(all, self->number, seen)) {
            CHECK_OK(kernels_launch(NULL, fill, N / 128, 128, (void *[]){&data, &value, &n}));
            CHECK_OK(gs_sync(session));
        }
        atomic_fetch_add(&all->row[self->number].checked, 1);
    }
    CHECK_OK(gs_detach(session));
}

/* Milliseconds times the time scale. */
static unsigned scaled_ms(unsigned milliseconds)
{
    return (unsigned)((test_deadline(milliseconds) - clock_ns() + 500000) / 1000000);
}

static gs_status work_once(gs_session session, gs_kernel chain, gs_devptr data)
{
    uint32_t words[N], n = N, rounds = 16, seed = (uint32_t)test_random();
    gs_devptr more;

    for (uint32_t i = 0; i < N; i++)
        words[i] = i;
    TRY(gs_memcpy_htod(session, data, words, sizeof(words)));
    TRY(kernels_launch(NULL, chain, N / 128, 128, (void *[]){&data, &n, &rounds, &seed}));
    TRY(gs_malloc(session, 100000, &more));
    TRY(gs_memcpy_dtoh(session, words, data, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], chain_expected(i, 16, seed));
    return gs_free(session, more);
}

/* Work that may be done twice. */
static gs_status work_again_once(gs_session session, gs_kernel fill, gs_devptr data)
{
    uint32_t words[N], n = N, value = (uint32_t)test_random();
    gs_devptr copy;

    TRY(gs_malloc(session, sizeof(words), &copy));
    for (uint32_t i = 0; i < 4; i++) {
        TRY(kernels_launch(NULL, fill, N / 128, 128, (void *[]){&data, &value, &n}));
        TRY(gs_memcpy_dtod_async(session, copy, data, sizeof(words), NULL));
        value++;
    }
    TRY(gs_memcpy_dtoh(session, words, copy, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value - 1 + i);
    return gs_free(session, copy);
}

/* Every other one of those who work. */
static bool replays(unsigned number)
{
    return number % 2;
}

static gs_status work(struct honest *all, unsigned number)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_devptr data;
    gs_module module;
    gs_kernel kernel;
    gs_status status;

    if (replays(number))
        params.on_fault = GS_ON_FAULT_REPLAY;
    params.timeout_ms = scaled_ms(30000);
    CHECK_OK(gs_attach(&params, &session));
    status = gs_malloc(session, N * sizeof(uint32_t), &data);
    if (status == GS_OK)
        status = gs_module_load(session, kernels_ptx, strlen(kernels_ptx), &module);
    if (status == GS_OK)
        status = gs_kernel_get(module, replays(number) ? "fill" : "chain", &kernel);
    while (status == GS_OK && !atomic_load(&all->stop)) {
        status = replays(number) ? work_again_once(session, kernel, data)
                                 : work_once(session, kernel, data);
        atomic_fetch_add(&all->row[number].checked, status == GS_OK);
    }
    gs_detach(session);
    return status;
}

static void working_run(void *argument)
{
    const struct self *self = argument;

    while (!atomic_load(&self->all->stop)) {
        const gs_status status = work(self->all, self->number);
        if (status == GS_OK)
            continue;
        CHECK_EQUAL(status, GS_ERR_INTERRUPTED);
        atomic_fetch_add(&self->all->row[self->number].interrupted, 1);
    }
}

/* ---- The hostile ---- */

static void kernel_run(void *argument)
{
    const char *name = hostile_kernels[*(const unsigned *)argument];
    uint32_t seed = (uint32_t)test_random();
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr at;

    CHECK_OK(gs_attach(NULL, &session));
    /* It may be killed at any of these. */
    if (gs_malloc(session, 4096, &at) == GS_OK &&
        gs_module_load(session, hostile_ptx, strlen(hostile_ptx), &module) == GS_OK &&
        gs_kernel_get(module, name, &kernel) == GS_OK) {
        for (unsigned i = 0; i < 3; i++)
            kernels_launch(NULL, kernel, 2, 64, (void *[]){&at, &seed});
        gs_sync(session);
    }
    gs_detach(session);
}

/* Writes anything anywhere into its segment, some time long. */
static void scribble_run(void *instance)
{
    struct raw_client raw;

    if (raw_attach(&raw, instance) != GS_OK)
        return;
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t at = test_random() % (SEG_SIZE - 8), what = test_random();
        memcpy(raw.segment + (i % 2 ? at : at % SEG_OFF_RINGS), &what, 8);
        if (i % 1000 == 0)
            raw_signal(&raw, (unsigned)(what % 64));
    }
    raw_drop(&raw);
}

/* PTX with some bytes changed. */
static void mutants_run(void *argument)
{
    char *text = strdup(kernels_ptx);
    const size_t length = strlen(text);
    gs_session session;

    (void)argument;
    CHECK_OK(gs_attach(NULL, &session));
    for (unsigned i = 0; i < 20; i++) {
        gs_module module;
        for (unsigned n = 0; n < 3; n++)
            text[test_random() % length] = (char)(32 + test_random() % 95);
        if (gs_module_load(session, text, length, &module) == GS_OK)
            gs_module_unload(module);
    }
    gs_detach(session);
    free(text);
}

/* Ends however it likes, within a time. */
static void hostile_play(void (*body)(void *), void *argument)
{
    tenant_wait(tenant_start(body, argument), 30);
}

enum harm {
    HARM_WORKER,     /* is killed */
    HARM_STANDBY,    /* is killed */
    HARM_BOTH,       /* are killed */
    HARM_TWICE,      /* the worker is killed, and the next one while it takes over */
    HARM_SUPERVISOR, /* is killed */
    HARM_ALL,        /* it, the worker and the standby are killed at once */
    HARM_RESTART,    /* the operator has the worker replaced, and it is killed meanwhile */
    HARM_STOPPED,    /* a tenant is stopped in the middle of its work, then killed */
    HARM_KILLED,     /* a tenant is killed in the middle of a kernel that does not end */
    HARM_OPERATOR,   /* the operator ends a session in the middle of such a kernel */
    HARM_SCRIBBLES,  /* over the rings and the rest of a segment */
    HARM_MUTANTS,    /* are loaded */
    HARM_KERNEL,     /* and those that follow: hostile_kernels */
    HARMS = HARM_KERNEL + ARRAY_SIZE(hostile_kernels)
};

static const char *harm_name(unsigned harm)
{
    static const char *const names[] = {
        "worker killed",     "standby killed",   "both killed",       "killed twice",
        "supervisor killed", "all three killed", "killed in restart", "tenant stopped",
        "tenant killed",     "operator's kill",  "scribbles",         "mutated PTX"};

    return harm < HARM_KERNEL ? names[harm] : hostile_kernels[harm - HARM_KERNEL];
}

static void worker_kill(const struct server *server, bool worker, bool standby)
{
    pid_t pids[SERVER_WORKERS_MAX];
    const unsigned count = server_workers(server, pids);
    const pid_t first = server_worker_pid(server);

    /* The kernel's list of a process's children may lack one while another ends. */
    if (worker && first > 0)
        kill(first, SIGKILL);
    for (unsigned i = 0; i < count; i++) {
        if (standby && pids[i] != first)
            kill(pids[i], SIGKILL);
    }
}

static void supervisor_kill(const struct server *server, bool workers)
{
    pid_t pids[SERVER_WORKERS_MAX];
    const unsigned count = workers ? server_workers(server, pids) : 0;

    kill(server_supervisor(server), SIGKILL);
    for (unsigned i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
}

static void restart_run(void *argument)
{
    char output[256];

    (void)argument;
    /* Refused, or interrupted, where the worker is lost first. */
    CHECK(program_run((const char *[]){"bin/gsctl", "restart-worker", NULL}, output,
                      sizeof(output)) <= 1);
}

/* A tenant whose kernel does not end. */
static pid_t endless_start(void)
{
    static unsigned endless = 1;

    return tenant_start(kernel_run, &endless);
}

static void harm_do(const struct server *server, unsigned harm)
{
    char id[16], output[256];
    unsigned kernel;
    pid_t pid;

    switch (harm) {
    case HARM_WORKER:
    case HARM_STANDBY:
    case HARM_BOTH:
        worker_kill(server, harm != HARM_STANDBY, harm != HARM_WORKER);
        break;
    case HARM_SUPERVISOR:
    case HARM_ALL:
        supervisor_kill(server, harm == HARM_ALL);
        break;
    case HARM_TWICE:
        pid = server_worker_pid(server);
        worker_kill(server, true, false);
        CHECK_WITHIN(20000, server_worker_pid(server) != pid && server_worker_pid(server) != 0);
        worker_kill(server, true, false);
        break;
    case HARM_RESTART:
        pid = tenant_start(restart_run, NULL);
        for (uint64_t pauses = test_random() % 200; pauses; pauses--)
            test_pause();
        worker_kill(server, true, false);
        tenant_join(pid);
        break;
    case HARM_STOPPED:
    case HARM_KILLED:
        pid = endless_start();
        server_wait_tenants(server, RESTING + WORKING + 1, 20000);
        if (harm == HARM_STOPPED)
            kill(pid, SIGSTOP);
        tenant_kill(pid, SIGKILL);
        break;
    case HARM_OPERATOR:
        pid = endless_start();
        server_wait_tenants(server, RESTING + WORKING + 1, 20000);
        snprintf(id, sizeof(id), "%d", (int)pid);
        program_run((const char *[]){"bin/gsctl", "kill", "--pid", id, "--grace", "50", NULL},
                    output, sizeof(output));
        tenant_wait(pid, 30);
        break;
    case HARM_SCRIBBLES:
        hostile_play(scribble_run, (void *)(uintptr_t)server->instance);
        break;
    case HARM_MUTANTS:
        hostile_play(mutants_run, NULL);
        break;
    default:
        kernel = harm - HARM_KERNEL;
        hostile_play(kernel_run, &kernel);
        break;
    }
}

static uint64_t interrupted_sum(const struct honest *all, bool replay)
{
    uint64_t sum = 0;

    for (unsigned i = RESTING; i < RESTING + WORKING; i++)
        sum += replays(i) == replay ? atomic_load(&all->row[i].interrupted) : 0;
    return sum;
}

static bool rested(const struct honest *all, uint32_t round)
{
    for (unsigned i = 0; i < RESTING; i++) {
        if (atomic_load(&all->row[i].seen) != round)
            return false;
    }
    return true;
}

/* Each of those who work gets on. */
static void work_goes_on(const struct honest *all)
{
    for (unsigned i = RESTING; i < RESTING + WORKING; i++) {
        const uint64_t before = atomic_load(&all->row[i].checked);
        CHECK_WITHIN(20000, atomic_load(&all->row[i].checked) > before);
    }
}

static void no_wrong_word_and_nobody_at_rest_is_lost(void)
{
    const char *const arguments[] = {"--fence", "always", "--grace", "1", NULL};
    const char *asked = getenv("GS_CHAOS_ROUNDS");
    const uint32_t rounds = asked ? (uint32_t)atoi(asked) : ROUNDS;
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct honest *all = shared_alloc(sizeof(*all));
    struct {
        uint32_t rounds;
        uint64_t interrupted[2]; /* [1]: of those whose work runs again */
    } table[HARMS] = {{0}};
    pid_t pids[RESTING + WORKING];
    char output[256], limit[16];

    /* What hostile kernels leave running is ended soon, and what honest ones do without a processor
     * is not. */
    snprintf(limit, sizeof(limit), "%u", scaled_ms(2000));
    CHECK_EQUAL(program_run((const char *[]){"bin/gsctl", "set", "--default", "--kernel-limit",
                                             limit, NULL},
                            output, sizeof(output)),
                0);
    for (unsigned i = 0; i < RESTING + WORKING; i++)
        pids[i] = tenant_start(i < RESTING ? resting_run : working_run, &(struct self){all, i});
    server_wait_tenants(server, RESTING + WORKING, 20000);
    /* Round 0 is without harm: after it those who rest are at rest. */
    atomic_store(&all->round, 1);
    CHECK_WITHIN(30000, rested(all, 1));
    work_goes_on(all);
    for (uint32_t round = 1; round <= rounds; round++) {
        const unsigned harm =
            round <= HARMS ? round - 1 : (unsigned)(test_random() % (unsigned)HARMS);
        const uint64_t before[2] = {interrupted_sum(all, false), interrupted_sum(all, true)};

        const uint64_t begin = clock_ns();
        uint64_t harm_ns, rested_ns;

        harm_do(server, harm);
        harm_ns = clock_ns() - begin;
        atomic_store(&all->round, round + 1);
        CHECK_WITHIN(30000, rested(all, round + 1));
        rested_ns = clock_ns() - begin;
        server_wait_tenants(server, RESTING + WORKING, 30000);
        work_goes_on(all);
        if (clock_ns() - begin > SLOW_NS)
            printf("# round %u (%s): %.1f s for the harm, %.1f s until those at rest went on, "
                   "%.1f s in all\n",
                   round, harm_name(harm), (double)harm_ns / 1e9, (double)rested_ns / 1e9,
                   (double)(clock_ns() - begin) / 1e9);
        table[harm].rounds++;
        for (unsigned replay = 0; replay < 2; replay++)
            table[harm].interrupted[replay] += interrupted_sum(all, replay) - before[replay];
        if (asked && round % 100 == 0)
            fprintf(stderr, "# %u of %u rounds\n", round, rounds);
    }
    atomic_store(&all->stop, 1);
    for (unsigned i = 0; i < RESTING + WORKING; i++)
        tenant_join(pids[i]);
    printf("# no wrong word, and nobody at rest was lost, in %u rounds; of those at work were\n",
           rounds);
    printf("# %-18s %7s  %-14s %s\n", "harm", "rounds", "interrupted", "though replaying");
    for (unsigned i = 0; i < HARMS; i++)
        printf("# %-18s %7u  %-4llu of %-6u %llu of %u\n", harm_name(i), table[i].rounds,
               (unsigned long long)table[i].interrupted[0], table[i].rounds * WORKING / 2,
               (unsigned long long)table[i].interrupted[1], table[i].rounds * WORKING / 2);
    fflush(stdout);
    server_wait_tenants(server, 0, 10000);
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(no_wrong_word_and_nobody_at_rest_is_lost,
                36000), /* each round has its own deadline */
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
