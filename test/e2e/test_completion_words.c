/*
 * test_completion_words.c - a tenant can write its completion words, by which short kernels end
 * that have no fence. What it writes there saves it neither from the limit of a kernel's time nor
 * from the blame for a fault, brings the blame on nobody else, and keeps no moment without kernels
 * from coming.
 */
#include <stdio.h>
#include <string.h>

#include "common/wire.h"
#include "harness/harness.h"

/* words[0] 0: ends at once. Else it sets words[1], runs until words[0] is 2, and faults. It may
 * trap, so it does not store its own end. */
static const char sly_ptx[] = PTX_HEAD
    ".visible .entry sly(.param .u64 words)\n"
    "{ .reg .b64 %rd<2>; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd0, [words];\n"
    "  ld.volatile.global.u32 %r, [%rd0]; setp.eq.u32 %p, %r, 0; @%p ret;\n"
    "  st.volatile.global.u32 [%rd0+4], 1;\n"
    "again: ld.volatile.global.u32 %r, [%rd0]; setp.eq.u32 %p, %r, 1; @%p bra again;\n"
    "  mov.u64 %rd1, 1; st.global.u32 [%rd1], %r; setp.eq.u32 %p, %r, 3; @%p trap; ret; }\n";

struct sly {
    gs_session session;
    _Atomic uint32_t *words;
};

/* The segment of the process's only session. */
static unsigned char *segment_find(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned char *found = NULL;
    unsigned long from, to;
    char line[512];

    CHECK(maps != NULL);
    while (!found && fgets(line, sizeof(line), maps)) {
        if (!strstr(line, "/SYSV") || sscanf(line, "%lx-%lx", &from, &to) != 2 ||
            to - from != SEG_SIZE)
            continue;
        found = (unsigned char *)from; // NOLINT: as the kernel tells it
    }
    fclose(maps);
    CHECK(found && ((const struct seg_info *)(const void *)found)->magic == WIRE_MAGIC);
    return found;
}

/* Says that all work of the default stream has ended. */
static void end_claim(unsigned char *segment)
{
    struct seg_complete *complete = (void *)(segment + SEG_OFF_COMPLETE);
    const struct seg_client *client = (const void *)(segment + SEG_OFF_CLIENT);

    atomic_store(&complete->position[0], atomic_load(&client->tail[0]));
}

/* Two words that kernels reach at *address. */
static _Atomic uint32_t *words_make(gs_session session, gs_devptr *address)
{
    void *words;

    CHECK_OK(gs_host_alloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_host_device_ptr(session, words, address));
    return words;
}

static gs_kernel kernel_load(gs_session session, const char *ptx, const char *name)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, ptx, 0, &module));
    return kernels_get(module, name);
}

/* Has a kernel on the device that does not end, and says that it has ended. */
static struct sly sly_begin(void)
{
    unsigned char *segment;
    gs_devptr address;
    gs_kernel kernel;
    struct sly sly;

    CHECK_OK(gs_attach(NULL, &sly.session));
    segment = segment_find();
    sly.words = words_make(sly.session, &address);
    kernel = kernel_load(sly.session, sly_ptx, "sly");
    for (unsigned i = 0; i < 400; i++) { /* it is known to be short */
        CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&address}));
        CHECK_OK(gs_sync(sly.session));
    }
    atomic_store(&sly.words[0], 1);
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&address}));
    CHECK_WITHIN(10000, atomic_load(&sly.words[1]));
    end_claim(segment);
    return sly;
}

static void it_does_not_outlast_the_limit(void)
{
    struct server *server = server_start(NULL);
    gs_fault fault = GS_FAULT_INIT;
    struct sly sly;
    char output[256];

    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "set", "--default", "--kernel-limit",
                                                  "300", NULL},
                            output, sizeof(output)),
                0);
    sly = sly_begin();
    CHECK_WITHIN(20000, gs_sync(sly.session) != GS_OK);
    CHECK_OK(gs_last_fault(sly.session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_EVICTED);
    CHECK_TEXT(fault.message, "longer than its limit of 300 ms");
    gs_detach(sly.session);
    server_stop(server);
}

struct honest {
    struct gate ready, go;
    gs_status status;
};

/* Has a kernel on the device when the fault comes. */
static void honest_run(void *argument)
{
    struct honest *honest = argument;
    _Atomic uint32_t *words;
    gs_devptr address;
    gs_session session;
    gs_kernel hold;

    CHECK_OK(gs_attach(NULL, &session));
    words = words_make(session, &address);
    hold = kernel_load(session, PTX_HEAD PTX_HOLD, "hold");
    gate_pass(&honest->ready);
    gate_wait(&honest->go, 1);
    CHECK_OK(kernels_launch(NULL, hold, 1, 1, (void *[]){&address}));
    CHECK_WITHIN(10000, atomic_load(&words[1]));
    gate_pass(&honest->ready);
    honest->status = gs_sync(session);
    gs_detach(session);
}

static void nobody_else_is_blamed_alone(void)
{
    struct server *server = server_start(NULL);
    struct honest *honest = shared_alloc(sizeof(*honest));
    const pid_t pid = tenant_start(honest_run, honest);
    struct sly sly;

    gate_wait(&honest->ready, 1);
    sly = sly_begin();
    gate_pass(&honest->go);
    gate_wait(&honest->ready, 2);
    atomic_store(&sly.words[0], 2);
    tenant_join(pid);
    CHECK_EQUAL(honest->status, GS_ERR_INTERRUPTED);
    CHECK_EQUAL(server_log_lines(server, "event=suspect session=1 "), 1);
    CHECK_EQUAL(server_log_lines(server, "event=suspect session=2 "), 1);
    gs_detach(sly.session);
    server_stop(server);
}

/* Nobody has work that is known to be unfinished. */
static void its_fault_is_its_own(void)
{
    struct server *server = server_start(NULL);
    const struct sly sly = sly_begin();

    atomic_store(&sly.words[0], 2);
    CHECK_WITHIN(20000, gs_sync(sly.session) == GS_ERR_FAULT);
    gs_detach(sly.session);
    server_stop(server);
}

struct liar {
    struct gate running, stop;
};

/* Has long kernels on the device without an end, and says all the time that they have ended. */
static void liar_run(void *argument)
{
    struct liar *liar = argument;
    uint64_t ns = UINT64_C(600000000);
    unsigned char *segment;
    gs_session session;
    gs_kernel spin;

    CHECK_OK(gs_attach(NULL, &session));
    segment = segment_find();
    spin = kernels_get(kernels_load(session), "spin");
    for (unsigned i = 0; i < 100; i++)
        CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&ns}));
    gate_pass(&liar->running);
    while (!atomic_load(&liar->stop.count)) {
        end_claim(segment);
        test_pause();
    }
    _exit(0);
}

static void it_keeps_nobody_from_loading(void)
{
    const char *const arguments[] = {"--grace", "1", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    struct liar *liar = shared_alloc(sizeof(*liar));
    const pid_t pid = tenant_start(liar_run, liar);
    gs_session session;

    gate_wait(&liar->running, 1);
    CHECK_OK(server_attach(server, &session));
    kernels_load(session);
    gate_pass(&liar->stop);
    tenant_join(pid);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(it_does_not_outlast_the_limit),
    TEST(nobody_else_is_blamed_alone),
    TEST(its_fault_is_its_own),
    TEST(it_keeps_nobody_from_loading),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
