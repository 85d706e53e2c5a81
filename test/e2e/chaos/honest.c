/* honest.c - see honest.h. */
#include "honest.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../bystander.h"

#define N       1024u
#define REST_NS 16000000u /* at most, from one result to the next's beginning */
#define LOOK_NS 20000000u /* how often one at rest looks whether to stop */

/* Of those at rest, the one that lends memory, and the one that borrows it. */
#define LENDER   (RESTING - 2)
#define BORROWER (RESTING - 1)

unsigned scaled_ms(unsigned milliseconds)
{
    return (unsigned)((test_deadline(milliseconds) - clock_ns() + 500000) / 1000000);
}

bool honest_replays(unsigned number)
{
    return number % 2;
}

static void pause_note(struct honest *all, unsigned number, uint64_t ns)
{
    if (ns > atomic_load(&all->row[number].longest_ns))
        atomic_store(&all->row[number].longest_ns, ns);
}

/* ---- Programs ---- */

/* All kernels, or the named one alone: a takeover loads the programs of all eight anew, and most of
 * a round would go there if each had the kernels that it never launches. */
static gs_status program_load(gs_session session, bool whole, const char *name, gs_kernel *kernel)
{
    const char *head = strstr(kernels_ptx, ".version"), *begin, *end;
    char text[8192], entry[64];
    gs_module module;

    snprintf(entry, sizeof(entry), ".visible .entry %s(", name);
    begin = strstr(kernels_ptx, entry);
    CHECK(head != NULL && begin != NULL);
    end = strstr(begin, "\n}\n");
    CHECK(end != NULL);
    snprintf(text, sizeof(text), "%.*s\n%.*s", (int)(strstr(head, "\n\n") - head), head,
             (int)(end + 3 - begin), begin);
    TRY(gs_module_load(session, whole ? kernels_ptx : text, 0, &module));
    return gs_kernel_get(module, name, kernel);
}

/* ---- At rest ---- */

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

/* One round: what the memory should hold is `value` and what follows; it then holds one more. */
static gs_status resting_round(struct honest *all, unsigned number, uint32_t round,
                               gs_session session, gs_devptr data, gs_kernel fill, uint32_t value)
{
    uint32_t words[N], n = N, next = value + 1;

    TRY(gs_memcpy_dtoh(session, words, data, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        atomic_fetch_add(&all->row[number].wrong, words[i] != value + i);
    if (!resting_turn(all, number, round))
        return GS_OK;
    TRY(kernels_launch(NULL, fill, N / 128, 128, (void *[]){&data, &next, &n}));
    return gs_sync(session);
}

static void resting_run(struct honest *all, unsigned number)
{
    const unsigned family = number == BORROWER ? LENDER : number;
    uint32_t value = 1000000 * (family + 1), seen = 0;
    gs_session session;
    gs_devptr data;
    gs_kernel fill;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(program_load(session, number == 0, "fill", &fill));
    data = resting_memory(session, fill, all, number, value);
    while (!atomic_load(&all->stop)) {
        const uint64_t begin = clock_ns();
        gs_status status;

        if (atomic_load(&all->round) == seen) {
            atomic_store(&all->row[number].seen, seen);
            futex_wait(&all->round, seen, LOOK_NS);
            continue;
        }
        seen = atomic_load(&all->round);
        status = resting_round(all, number, seen, session, data, fill, value++);
        if (status != GS_OK) {
            atomic_store(&all->row[number].lost, status);
            return;
        }
        pause_note(all, number, clock_ns() - begin);
        atomic_fetch_add(&all->row[number].checked, 1);
    }
    CHECK_OK(gs_detach(session));
}

/* ---- At work ---- */

static gs_status work_once(struct honest *all, unsigned number, gs_session session, gs_kernel chain,
                           gs_devptr data)
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
        atomic_fetch_add(&all->row[number].wrong, words[i] != chain_expected(i, 16, seed));
    return gs_free(session, more);
}

/* The four at work would take every processor if each began anew at once, and a round would last
 * for want of one. So each rests for a time by chance: harm finds some of them with work on the
 * device, and some without. */
static void work_rest(void)
{
    const struct timespec t = {0, (long)(test_random() % REST_NS)};

    nanosleep(&t, NULL);
}

/* Work that may be done twice. */
static gs_status work_again_once(struct honest *all, unsigned number, gs_session session,
                                 gs_kernel fill, gs_devptr data)
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
        atomic_fetch_add(&all->row[number].wrong, words[i] != value - 1 + i);
    return gs_free(session, copy);
}

static void work_hold(struct honest *all, unsigned number)
{
    while (atomic_load(&all->hold) && !atomic_load(&all->stop)) {
        atomic_store(&all->row[number].held, 1);
        test_pause();
    }
    atomic_store(&all->row[number].held, 0);
}

/* One session, until it is interrupted. `result_ns`: when the last result was there. */
static gs_status work(struct honest *all, unsigned number, uint64_t *result_ns)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_devptr data;
    gs_kernel kernel;
    gs_status status;

    if (honest_replays(number))
        params.on_fault = GS_ON_FAULT_REPLAY;
    params.timeout_ms = scaled_ms(30000);
    TRY(gs_attach(&params, &session));
    status = gs_malloc(session, N * sizeof(uint32_t), &data);
    if (status == GS_OK)
        status = program_load(session, false, honest_replays(number) ? "fill" : "chain", &kernel);
    while (status == GS_OK && !atomic_load(&all->stop)) {
        if (atomic_load(&all->hold)) {
            work_hold(all, number);
            *result_ns = clock_ns();
        }
        status = honest_replays(number) ? work_again_once(all, number, session, kernel, data)
                                        : work_once(all, number, session, kernel, data);
        if (status != GS_OK)
            break;
        pause_note(all, number, clock_ns() - *result_ns);
        atomic_fetch_add(&all->row[number].checked, 1);
        work_rest();
        *result_ns = clock_ns();
    }
    gs_detach(session);
    return status;
}

static void working_run(struct honest *all, unsigned number)
{
    uint64_t result_ns = clock_ns();

    while (!atomic_load(&all->stop)) {
        const gs_status status = work(all, number, &result_ns);
        if (status == GS_OK)
            continue;
        if (status != GS_ERR_INTERRUPTED) {
            atomic_store(&all->row[number].lost, status);
            return;
        }
        atomic_fetch_add(&all->row[number].interrupted, 1);
    }
}

void honest_run(void *argument)
{
    const struct honest_self *self = argument;

    if (self->number < RESTING)
        resting_run(self->all, self->number);
    else
        working_run(self->all, self->number);
}
