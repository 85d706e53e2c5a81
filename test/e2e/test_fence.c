/*
 * test_fence.c - sessions whose kernels are fenced into their own memory: what their kernels do to
 * addresses of others, what becomes of their modules' variables, which modules are refused, and
 * whom the server fences.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bystander.h"
#include "common/request.h"
#include "common/sanitizers.h"
#include "harness/harness.h"

#define MIB      ((size_t)1 << 20)
#define GIB      ((uint64_t)1 << 30)
#define N        4096u
#define STRANGER 65534u

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/* poke: *at = value.  peek: *to = *at, generic.  add: atomicAdd(at, value). */
static const char strays_ptx[] =
    HEAD ".visible .entry poke(.param .u64 at, .param .u32 value)\n"
         "{ .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd0, [at]; ld.param.u32 %r, [value];\n"
         "  st.global.u32 [%rd0], %r; ret; }\n"
         ".visible .entry peek(.param .u64 at, .param .u64 to)\n"
         "{ .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd0, [at]; ld.param.u64 %rd1, [to];\n"
         "  ld.u32 %r, [%rd0]; st.global.u32 [%rd1], %r; ret; }\n"
         ".visible .entry add(.param .u64 at, .param .u32 value)\n"
         "{ .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd0, [at]; ld.param.u32 %r, [value];\n"
         "  red.global.add.u32 [%rd0], %r; ret; }\n";

/* roam: stores at `count` places of the 512 MiB from `at` on.  below: stores 1 MiB before `at`. */
static const char roam_ptx[] =
    HEAD ".visible .entry roam(.param .u64 at, .param .u32 count)\n"
         "{ .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;\n"
         "  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [count]; mov.u32 %r1, 12345;\n"
         "again: mad.lo.u32 %r1, %r1, 1664525, 1013904223; and.b32 %r2, %r1, 0x1ffffffc;\n"
         "  cvt.u64.u32 %rd1, %r2; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r1;\n"
         "  sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra again; ret; }\n"
         ".visible .entry below(.param .u64 at)\n"
         "{ .reg .b64 %rd0; ld.param.u64 %rd0, [at]; st.global.u32 [%rd0+-1048576], 7; ret; }\n";

/* through: stores at the address that stands at `slot`. */
static const char through_ptx[] =
    HEAD ".visible .entry through(.param .u64 slot, .param .u32 value)\n"
         "{ .reg .b64 %rd<2>; .reg .b32 %r; ld.param.u64 %rd0, [slot]; ld.param.u32 %r, [value];\n"
         "  ld.global.u64 %rd1, [%rd0]; st.global.u32 [%rd1], %r; ret; }\n";

/* indices: at[index] = index for `count` indices from `first` down, off a base that is fenced once.
 */
static const char indices_ptx[] =
    HEAD ".visible .entry indices(.param .u64 at, .param .u32 first, .param .u32 count)\n"
         "{ .reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p;\n"
         "  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [first]; ld.param.u32 %r1, [count];\n"
         "again: mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r0;\n"
         "  sub.u32 %r0, %r0, 1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra again;\n"
         "  ret; }\n"
         ".visible .entry signed(.param .u64 at, .param .u32 first, .param .u32 count)\n"
         "{ .reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p;\n"
         "  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [first]; ld.param.u32 %r1, [count];\n"
         "again: mul.wide.s32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r0;\n"
         "  sub.u32 %r0, %r0, 1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra again;\n"
         "  ret; }\n"
         ".visible .entry strides(.param .u64 at, .param .u32 stride, .param .u32 count)\n"
         "{ .reg .b64 %rd<5>; .reg .b32 %r<2>; .reg .pred %p;\n"
         "  ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [stride]; ld.param.u32 %r1, [count];\n"
         "  mul.wide.s32 %rd1, %r0, 4;\n"
         "again: st.global.u32 [%rd0], %r0; add.s64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r0;\n"
         "  add.s64 %rd3, %rd2, %rd1; st.global.u32 [%rd3], %r0; add.s64 %rd4, %rd3, %rd1;\n"
         "  st.global.u32 [%rd4+-1048576], %r0; st.global.u32 [%rd4+1048576], %r0;\n"
         "  add.s64 %rd0, %rd0, 65536; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0;\n"
         "  @%p bra again; ret; }\n";

/* walks: by a thread for each row of `columns` words: the sum of the row; twice its words of odd
 * places less those of even ones; and twice its first word. Addresses are sums of what moves
 * through a loop and of what does not. What moves begins a GiB away from the row; for the last one
 * `away` MiB before it, and the address moves to the row before it is used. */
static const char walks_ptx[] = HEAD
    ".visible .entry walks(.param .u64 to, .param .u64 at, .param .u32 columns, .param .u32 away)\n"
    "{ .reg .b64 %rd<11>; .reg .b32 %r<10>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd0, [to]; ld.param.u64 %rd1, [at]; ld.param.u32 %r0, [columns];\n"
    "  ld.param.u32 %r1, [away]; mov.u32 %r2, %tid.x; mul.lo.s32 %r3, %r2, %r0;\n"
    "  mul.wide.s32 %rd2, %r3, 4; add.s64 %rd2, %rd2, 1073741824; sub.s64 %rd3, %rd1, 1073741824;\n"
    "  mov.u32 %r4, 0; mov.u32 %r5, %r0;\n"
    "up: add.s64 %rd4, %rd3, %rd2; ld.global.u32 %r6, [%rd4]; add.u32 %r4, %r4, %r6;\n"
    "  ld.global.u32 %r6, [%rd4+4]; add.u32 %r4, %r4, %r6; add.s64 %rd3, 8, %rd3;\n"
    "  sub.u32 %r5, %r5, 2; setp.ne.u32 %p0, %r5, 0; @%p0 bra up;\n"
    "  mov.u32 %r7, 0; mov.u32 %r8, 2; mov.u64 %rd5, -8;\n"
    "again: mul.wide.s32 %rd6, %r0, 4; add.s64 %rd6, %rd6, %rd1; add.s64 %rd6, %rd6, -1073741828;\n"
    "  mov.u32 %r5, %r0;\n"
    "down: add.s64 %rd7, %rd2, %rd6; add.s64 %rd6, %rd6, %rd5; ld.global.u32 %r6, [%rd7];\n"
    "  add.u32 %r7, %r7, %r6; add.s64 %rd8, %rd2, %rd6; ld.global.u32 %r6, [%rd8+4];\n"
    "  sub.u32 %r7, %r7, %r6; sub.u32 %r5, %r5, 2; setp.ne.u32 %p0, %r5, 0; @%p0 bra down;\n"
    "  sub.u32 %r8, %r8, 1; setp.ne.u32 %p0, %r8, 0; @%p0 bra again;\n"
    "  mul.wide.u32 %rd9, %r1, 1048576; sub.s64 %rd3, %rd1, %rd9; add.s64 %rd3, %rd3, "
    "-1073741824;\n"
    "  mov.u32 %r9, 0; mov.u32 %r5, 0;\n"
    "near: setp.ge.u32 %p1, %r5, %r1; add.s64 %rd9, %rd3, %rd2; @%p1 ld.global.u32 %r6, [%rd9];\n"
    "  @%p1 add.u32 %r9, %r9, %r6; @!%p1 bra next; ld.global.u32 %r6, [%rd9]; add.u32 %r9, %r9, "
    "%r6;\n"
    "next: add.s64 %rd3, %rd3, 1048576; add.u32 %r5, %r5, 1; setp.le.u32 %p0, %r5, %r1;\n"
    "  @%p0 bra near; mad.wide.u32 %rd10, %r2, 12, %rd0; st.global.u32 [%rd10], %r4;\n"
    "  st.global.u32 [%rd10+4], %r7; st.global.u32 [%rd10+8], %r9; ret; }\n";

/* first holds the address of second's third word. */
static const char variables_ptx[] =
    HEAD ".visible .global .align 4 .u32 second[4] = {10, 11, 12, 13};\n"
         ".visible .global .align 8 .u64 first = generic(second) + 8;\n"
         ".visible .global .align 4 .b8 room[1048576];\n"
         ".visible .const .align 4 .u32 fixed = 77;\n"
         ".visible .entry follow(.param .u64 to)\n"
         "{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd0, [to];\n"
         "  ld.global.u64 %rd1, [first]; ld.u32 %r0, [%rd1]; ld.const.u32 %r1, [fixed];\n"
         "  add.u32 %r0, %r0, %r1; st.global.u32 [%rd0], %r0; ret; }\n";

/* Sets words[0], then waits until words[1] is set. */
static const char gate_ptx[] = HEAD
    ".visible .entry gate(.param .u64 words)\n"
    "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [words];\n"
    "  st.volatile.global.u32 [%rd], 1;\n"
    "again: ld.volatile.global.u32 %r, [%rd+4]; setp.eq.u32 %p, %r, 0; @%p bra again; ret; }\n";

/* wander: stores at any address, and by any index from `end` on, until words[1] is set. It does not
 * store to the words, which lie in the window's second granule. */
static const char wander_ptx[] =
    HEAD ".visible .entry wander(.param .u64 words, .param .u64 end, .param .u32 seed)\n"
         "{ .reg .b64 %rd<8>; .reg .b32 %r<6>; .reg .pred %p<2>;\n"
         "  ld.param.u64 %rd0, [words]; ld.param.u64 %rd1, [end]; ld.param.u32 %r0, [seed];\n"
         "again: mad.lo.u32 %r0, %r0, 1664525, 1013904223; shr.u32 %r1, %r0, 3;\n"
         "  mad.lo.u32 %r0, %r0, 1664525, 1013904223; and.b32 %r2, %r0, 0xfffffffc;\n"
         "  or.b32 %r2, %r2, 0x400000; mov.b64 %rd2, {%r2, %r1}; st.global.u32 [%rd2], %r0;\n"
         "  mul.wide.u32 %rd3, %r0, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r0;\n"
         "  ld.volatile.global.u32 %r3, [%rd0+4]; setp.eq.u32 %p0, %r3, 0; @%p0 bra again;\n"
         "  ret; }\n";

static const struct server_options always = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

static gs_status load(gs_session session, const char *ptx, gs_module *module)
{
    return gs_module_load(session, ptx, strlen(ptx), module);
}

static gs_session_desc info_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc;
}

static uint32_t peeked(gs_session session, gs_module module, gs_devptr at, gs_devptr to)
{
    uint32_t word = 0xdead;

    CHECK_OK(kernels_launch(NULL, kernels_get(module, "peek"), 1, 1, (void *[]){&at, &to}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, &word, to, sizeof(word)));
    return word;
}

/* ---- Strays ---- */

static void a_stray_reaches_no_neighbour(void)
{
    struct server *server = server_start(&always);
    uint32_t value = 0x5ca1ab1e, words[N];
    gs_session honest, hostile;
    gs_devptr memory, own;
    gs_module module;
    uint32_t n = N;

    CHECK_OK(server_attach(server, &honest));
    CHECK_OK(server_attach(server, &hostile));
    CHECK_OK(gs_malloc(honest, N * sizeof(uint32_t), &memory));
    CHECK_OK(gs_malloc(hostile, 64, &own));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(honest), "fill"), N / 128, 128,
                            (void *[]){&memory, &(uint32_t){1000}, &n}));
    CHECK_OK(gs_sync(honest));
    CHECK_OK(load(hostile, strays_ptx, &module));
    for (uint32_t i = 0; i < N; i += 173) {
        gs_devptr at = memory + i * sizeof(uint32_t);
        const char *how = i % 2 ? "poke" : "add";
        CHECK_OK(kernels_launch(NULL, kernels_get(module, how), 1, 1, (void *[]){&at, &value}));
        CHECK(peeked(hostile, module, at, own) != 1000 + i);
    }
    CHECK_OK(gs_sync(hostile));
    CHECK_OK(gs_memcpy_dtoh(honest, words, memory, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], 1000 + i);
    CHECK_OK(gs_detach(hostile));
    CHECK_OK(gs_detach(honest));
    server_stop(server);
}

/* Wherever it goes: null, the window's ends and what lies beyond, freed memory, any number. */
static void a_stray_faults_nobody(void)
{
    struct server *server = server_start(&always);
    struct bystanders *bystanders = bystanders_start(2);
    uint32_t value = 1;
    gs_session session;
    gs_session_desc desc;
    gs_devptr own, freed;
    gs_module module;
    uint64_t x = 88172645463325252u;

    CHECK_OK(server_attach(server, &session));
    desc = info_of(session);
    CHECK_OK(gs_malloc(session, 64, &own));
    CHECK_OK(gs_malloc(session, 5 * MIB, &freed));
    CHECK_OK(load(session, strays_ptx, &module));
    CHECK_OK(gs_free(session, freed));
    const gs_devptr at[] = {0,
                            4,
                            freed,
                            freed + 3 * MIB,
                            desc.window_base,
                            desc.window_base + desc.window_size - 4,
                            desc.window_base + desc.window_size,
                            desc.window_base - 4,
                            UINT64_MAX - 3};
    for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        gs_devptr there = at[i];
        CHECK_OK(
            kernels_launch(NULL, kernels_get(module, "poke"), 1, 1, (void *[]){&there, &value}));
        CHECK_OK(gs_sync(session));
    }
    for (unsigned i = 0; i < 500; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        gs_devptr there = x & ~(uint64_t)3;
        CHECK_OK(kernels_launch(NULL, kernels_get(module, i % 2 ? "poke" : "add"), 1, 1,
                                (void *[]){&there, &value}));
        /* Memory comes and goes where strays may be. */
        if (i % 10 == 0)
            CHECK_OK(gs_malloc(session, (1 + x % 4) * MIB, &freed));
        else if (i % 10 == 5)
            CHECK_OK(gs_free(session, freed));
    }
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    bystanders_stop(bystanders);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Where memory comes and goes while a kernel strays there, it never meets a hole. */
static void memory_comes_and_goes_beside_a_kernel_that_strays(void)
{
    struct server *server = server_start(&always);
    struct bystanders *bystanders = bystanders_start(1);
    gs_session session;
    gs_devptr at, memory[8];
    gs_module module;
    uint32_t count = 20000;

    CHECK_OK(server_attach(server, &session));
    at = info_of(session).window_base;
    CHECK_OK(load(session, roam_ptx, &module));
    for (unsigned round = 0; round < 6; round++) {
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "roam"), 1, 1, (void *[]){&at, &count}));
        for (unsigned i = 0; i < 8; i++)
            CHECK_OK(gs_malloc(session, (1 + 5 * i) * MIB, &memory[i]));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "roam"), 1, 1, (void *[]){&at, &count}));
        for (unsigned i = 0; i < 8; i++)
            CHECK_OK(gs_free(session, memory[(i * 3) % 8]));
    }
    CHECK_OK(gs_detach(session));
    bystanders_stop(bystanders);
    server_stop(server);
}

/* Only memory that has to be mapped waits for the session's kernels. */
static void a_little_memory_comes_beside_a_kernel_that_waits_for_it(void)
{
    struct server *server = server_start(&always);
    gs_devptr words, little[20];
    uint32_t started = 0;
    gs_session session;
    gs_stream aside;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(load(session, gate_ptx, &module));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "gate"), 1, 1, (void *[]){&words}));
    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(session, &started, words, sizeof(started), aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(little); i++)
        CHECK_OK(gs_malloc(session, 4096, &little[i]));
    CHECK_OK(gs_memset_async(session, words + sizeof(uint32_t), 1, sizeof(uint32_t), aside));
    CHECK_OK(gs_sync(session));
    for (unsigned i = 0; i < ARRAY_SIZE(little); i++)
        CHECK_OK(gs_free(session, little[i]));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Begins the kernel that waits and sees it wait; the other kernels are loaded by then, since no
 * module comes beside it. */
static void gate_close(gs_session session, gs_kernel gate, gs_devptr words, gs_stream aside)
{
    uint32_t started = 0;

    CHECK_OK(kernels_launch(NULL, gate, 1, 1, (void *[]){&words}));
    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(session, &started, words, sizeof(started), aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
}

static void gate_open(gs_session session, gs_devptr words, gs_stream aside)
{
    CHECK_OK(gs_memset_async(session, words + sizeof(uint32_t), 1, sizeof(uint32_t), aside));
    CHECK_OK(gs_sync(session));
}

/* Of any size, and the host's that kernels reach: it is empty, kernels store there, and the next
 * workers have it. */
static void memory_comes_beside_a_kernel_that_waits_for_it(void)
{
#if THREAD_SANITIZER
    test_skip("the sanitizer has most of the addresses");
#endif
    struct server *server = server_start(&always);
    const uint64_t size[] = {40 * MIB, 2 * MIB};
    uint32_t word = 0xdead, value = 5;
    gs_module gate, strays;
    gs_devptr words, memory[3];
    gs_session session;
    gs_stream aside;
    void *host;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(load(session, gate_ptx, &gate));
    CHECK_OK(load(session, strays_ptx, &strays));
    gs_kernel add = kernels_get(strays, "add");
    gate_close(session, kernels_get(gate, "gate"), words, aside);
    for (unsigned i = 0; i < ARRAY_SIZE(size); i++)
        CHECK_OK(gs_malloc(session, size[i], &memory[i]));
    CHECK_OK(gs_host_alloc(session, 4 * MIB, &host));
    CHECK_OK(gs_host_device_ptr(session, host, &memory[2]));
    for (unsigned i = 0; i < ARRAY_SIZE(memory); i++) {
        CHECK_OK(kernels_launch(aside, add, 1, 1, (void *[]){&memory[i], &value}));
        CHECK_OK(gs_memcpy_dtoh_async(session, &word, memory[i], sizeof(word), aside));
        CHECK_OK(gs_stream_sync(session, aside));
        CHECK_EQUAL(word, value);
    }
    CHECK_STATUS(gs_stream_query(session, NULL), GS_NOT_READY);
    gate_open(session, words, aside);
    server_worker_restart(server, 0);
    server_worker_replace(server, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(memory); i++) {
        CHECK_OK(kernels_launch(aside, add, 1, 1, (void *[]){&memory[i], &value}));
        CHECK_OK(gs_stream_sync(session, aside));
        CHECK_OK(gs_memcpy_dtoh(session, &word, memory[i], sizeof(word)));
        CHECK_EQUAL(word, 2 * value);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(size); i++)
        CHECK_OK(gs_free(session, memory[i]));
    CHECK_OK(gs_host_free(session, host));
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Kernels that stray everywhere until they are told to end, by addresses and by indices, meet no
 * hole: neither those that run when the memory comes, nor those that begin after it. */
static void memory_comes_beside_kernels_that_stray(void)
{
#if THREAD_SANITIZER
    test_skip("the sanitizer has most of the addresses");
#endif
    struct server *server = server_start(&always);
    struct bystanders *bystanders = bystanders_start(2);
    gs_devptr words, end, memory[3];
    gs_session session;
    gs_stream stream[3], aside;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    const gs_session_desc desc = info_of(session);
    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(load(session, wander_ptx, &module));
    gs_kernel wander = kernels_get(module, "wander");
    for (unsigned i = 0; i < ARRAY_SIZE(memory); i++) {
        uint32_t seed = 99 + i;
        end = desc.window_base + desc.window_size - 4;
        CHECK_OK(gs_stream_create(session, NULL, &stream[i]));
        CHECK_OK(kernels_launch(stream[i], wander, 1, 1, (void *[]){&words, &end, &seed}));
        CHECK_OK(gs_malloc(session, (1 + 30 * i) * MIB, &memory[i]));
        CHECK_STATUS(gs_stream_query(session, stream[i]), GS_NOT_READY);
    }
    gate_open(session, words, aside);
    for (unsigned i = 0; i < ARRAY_SIZE(memory); i++)
        CHECK_OK(gs_free(session, memory[i]));
    CHECK_OK(gs_detach(session));
    bystanders_stop(bystanders);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void an_offset_below_the_window_stays_in_it(void)
{
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(load(session, roam_ptx, &module));
    const gs_devptr base = info_of(session).window_base;
    const gs_devptr at[] = {0, base, base + 4096, base + 2 * MIB, base + 4 * GIB};
    for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
        gs_devptr there = at[i];
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "below"), 1, 1, (void *[]){&there}));
        CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Off memory of its own, off the window's end and off others' memory, by the smallest and the
 * largest indices there are. */
static void an_index_leads_nowhere(void)
{
    struct server *server = server_start(&always);
    struct bystanders *bystanders = bystanders_start(2);
    uint32_t words[8], zeros[8] = {0}, few = 8, many = 4096;
    gs_session session, honest;
    gs_devptr own, others;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &honest));
    CHECK_OK(gs_malloc(session, sizeof(words), &own));
    CHECK_OK(gs_malloc(honest, sizeof(words), &others));
    CHECK_OK(load(session, indices_ptx, &module));
    const gs_session_desc desc = info_of(session);
    const gs_devptr at[] = {own, desc.window_base + desc.window_size - 4, others, 0};
    const uint32_t from[] = {UINT32_MAX, 0x80000000, 0x7fffffff, 4096};
    const char *const kernels[] = {"indices", "signed", "strides"};
    for (size_t i = 0; i < ARRAY_SIZE(at) * ARRAY_SIZE(kernels); i++) {
        gs_kernel kernel = kernels_get(module, kernels[i % ARRAY_SIZE(kernels)]);
        gs_devptr there = at[i / ARRAY_SIZE(kernels)];
        for (size_t k = 0; k < ARRAY_SIZE(from); k++)
            CHECK_OK(
                kernels_launch(NULL, kernel, 1, 1, (void *[]){&there, (void *)&from[k], &many}));
        CHECK_OK(gs_sync(session));
    }
    gs_kernel kernel = kernels_get(module, "signed");
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&own, &(uint32_t){7}, &few}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, words, own, sizeof(words)));
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQUAL(words[i], i);
    CHECK_OK(gs_memcpy_dtoh(honest, words, others, sizeof(words)));
    CHECK(memcmp(words, zeros, sizeof(words)) == 0);
    bystanders_stop(bystanders);
    CHECK_OK(gs_detach(honest));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What moves lies outside of the window, and only its sums inside. */
static void sums_that_move_through_loops_reach_the_sessions_memory(void)
{
    enum { ROWS = 32, COLUMNS = 10 };
    struct server *server = server_start(&always);
    uint32_t words[ROWS][COLUMNS], sums[ROWS][3], columns = COLUMNS, away = 8192;
    gs_session session;
    gs_module module;
    gs_devptr at, to;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(words), &at));
    CHECK_OK(gs_malloc(session, sizeof(sums), &to));
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        words[i / COLUMNS][i % COLUMNS] = i * i + 1;
    CHECK_OK(gs_memcpy_htod(session, at, words, sizeof(words)));
    CHECK_OK(load(session, walks_ptx, &module));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "walks"), 1, ROWS,
                            (void *[]){&to, &at, &columns, &away}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, sums, to, sizeof(sums)));
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t all = 0, apart = 0;
        for (uint32_t i = 0; i < COLUMNS; i++) {
            all += words[row][i];
            apart += i % 2 ? words[row][i] : -words[row][i];
        }
        CHECK_EQUAL(sums[row][0], all);
        CHECK_EQUAL(sums[row][1], 2 * apart);
        CHECK_EQUAL(sums[row][2], 2 * words[row][0]);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The first 4 GiB are open to kernels at first, and what is loaded by then has to follow. */
static void memory_behind_the_first_addresses_is_reached(void)
{
    enum { IMPORTS = 8 };
    const size_t size = 512 * MIB;
    struct server *server = server_start(&always);
    struct bystanders *bystanders = bystanders_start(2);
    uint32_t value = 0x5ca1ab1e, word;
    gs_devptr memory, at[IMPORTS];
    gs_session owner, session;
    gs_mem_handle handle;
    gs_module poke, indices;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(load(session, strays_ptx, &poke));
    CHECK_OK(load(session, indices_ptx, &indices));
    CHECK_OK(gs_malloc(owner, size, &memory));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &handle));
    for (unsigned i = 0; i < IMPORTS; i++)
        CHECK_OK(gs_mem_import(session, &handle, &at[i], NULL));
    const gs_session_desc desc = info_of(session);
    CHECK(at[IMPORTS - 1] + size > desc.window_base + 4 * GIB);
    for (unsigned i = 0; i < IMPORTS; i++) {
        gs_devptr there = at[i] + size - 4 - 4 * i;
        CHECK_OK(kernels_launch(NULL, kernels_get(poke, "poke"), 1, 1, (void *[]){&there, &value}));
    }
    CHECK_OK(kernels_launch(NULL, kernels_get(indices, "indices"), 1, 1,
                            (void *[]){&at[IMPORTS - 1], &(uint32_t){15}, &(uint32_t){16}}));
    /* Wherever it strays nobody is hurt. */
    for (uint64_t i = 0; i < 64; i++) {
        gs_devptr there = desc.window_base + i * GIB / 2;
        CHECK_OK(kernels_launch(NULL, kernels_get(poke, "add"), 1, 1, (void *[]){&there, &value}));
        CHECK_OK(kernels_launch(NULL, kernels_get(indices, "indices"), 1, 1,
                                (void *[]){&there, &(uint32_t){UINT32_MAX}, &(uint32_t){64}}));
    }
    CHECK_OK(gs_sync(session));
    for (unsigned i = 0; i < IMPORTS; i++) {
        CHECK_OK(gs_memcpy_dtoh(owner, &word, memory + size - 4 - 4 * i, sizeof(word)));
        CHECK_EQUAL(word, value);
    }
    CHECK_OK(gs_memcpy_dtoh(owner, &word, memory + 15 * sizeof(word), sizeof(word)));
    CHECK_EQUAL(word, 15);
    bystanders_stop(bystanders);
    CHECK_OK(gs_detach(session));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Most of them follow another, so that the worker has them in one graph. */
static void launch_in_a_batch(gs_session session, gs_stream stream, gs_kernel through,
                              gs_devptr first, gs_devptr rest, uint32_t value)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);

    CHECK_OK(gs_launch(stream, through, &config, (void *[]){&first, &value}));
    for (unsigned i = 0; i < 7; i++)
        CHECK_OK(gs_launch(stream, through, &config, (void *[]){&rest, &value}));
    CHECK_OK(gs_stream_sync(session, stream));
}

/* Launches and a graph that were set up before the memory came, and name it by a pointer in memory
 * alone. */
static void what_came_before_reaches_memory_behind_the_first_addresses(void)
{
    enum { IMPORTS = 23, BATCHES = 4 };
    const size_t size = 178 * MIB; /* with a chunk for the slot, all 4 GiB of the software device */
    struct server *server = server_start(&always);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    uint32_t value = 7, graphs = 9, word;
    gs_devptr memory, slot, other, near, at[IMPORTS];
    gs_session owner, session;
    gs_mem_handle handle;
    gs_stream stream;
    gs_module module;
    gs_graph graph;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(load(session, through_ptx, &module));
    gs_kernel through = kernels_get(module, "through");
    CHECK_OK(gs_malloc(session, 64, &slot));
    other = slot + sizeof(slot);
    near = other + sizeof(slot);
    CHECK_OK(gs_memcpy_htod(session, slot, &near, sizeof(near)));
    CHECK_OK(gs_memcpy_htod(session, other, &near, sizeof(near)));
    CHECK_OK(gs_graph_begin(session, stream));
    CHECK_OK(gs_launch(stream, through, &config, (void *[]){&slot, &graphs}));
    CHECK_OK(gs_graph_end(session, stream, &graph));
    for (unsigned i = 0; i < BATCHES; i++)
        launch_in_a_batch(session, stream, through, slot, other, value);
    CHECK_OK(gs_graph_launch(graph, stream));
    CHECK_OK(gs_malloc(owner, size, &memory));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &handle));
    for (unsigned i = 0; i < IMPORTS; i++)
        CHECK_OK(gs_mem_import(session, &handle, &at[i], NULL));
    const gs_devptr far[] = {at[IMPORTS - 1] + size - 4, at[IMPORTS - 1] + size - 8};
    CHECK(far[1] > info_of(session).window_base + 4 * GIB);
    CHECK_OK(gs_memcpy_htod(session, slot, &far[0], sizeof(far[0])));
    launch_in_a_batch(session, stream, through, slot, other, value);
    CHECK_OK(gs_memcpy_htod(session, slot, &far[1], sizeof(far[1])));
    CHECK_OK(gs_graph_launch(graph, stream));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_OK(gs_memcpy_dtoh(owner, &word, memory + size - 4, sizeof(word)));
    CHECK_EQUAL(word, value);
    CHECK_OK(gs_memcpy_dtoh(owner, &word, memory + size - 8, sizeof(word)));
    CHECK_EQUAL(word, graphs);
    CHECK_OK(gs_detach(session));
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

static void new_memory_is_zero_and_keeps_what_is_written(void)
{
    struct server *server = server_start(&always);
    gs_session session;
    gs_devptr memory[20];
    gs_module strays, module;
    uint32_t value = 99, n = N, words[N];

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(load(session, strays_ptx, &strays));
    module = kernels_load(session);
    /* The sink is written all over where the memory will be. */
    for (unsigned i = 0; i < 200; i++) {
        gs_devptr at = info_of(session).window_base + i * MIB / 4;
        CHECK_OK(kernels_launch(NULL, kernels_get(strays, "poke"), 1, 1, (void *[]){&at, &value}));
    }
    CHECK_OK(gs_sync(session));
    for (unsigned i = 0; i < 20; i++) {
        CHECK_OK(gs_malloc(session, i % 3 ? N * sizeof(uint32_t) : 3 * MIB, &memory[i]));
        CHECK_OK(gs_memcpy_dtoh(session, words, memory[i], sizeof(words)));
        for (uint32_t k = 0; k < N; k++)
            CHECK_EQUAL(words[k], 0);
    }
    for (unsigned i = 0; i < 20; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), N / 128, 128,
                                (void *[]){&memory[i], &(uint32_t){i * 5000}, &n}));
    for (unsigned i = 0; i < 20; i += 2)
        CHECK_OK(gs_free(session, memory[i]));
    for (unsigned i = 1; i < 20; i += 2) {
        CHECK_OK(gs_memcpy_dtoh(session, words, memory[i], sizeof(words)));
        for (uint32_t k = 0; k < N; k++)
            CHECK_EQUAL(words[k], i * 5000 + k);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Variables ---- */

static void variables_lie_in_the_session_and_are_charged(void)
{
    struct server *server = server_start(&always);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_devptr first, second, fixed, to;
    size_t size, before, after, total;
    gs_session_desc desc;
    gs_session session;
    gs_module module, again;
    uint32_t word;

    params.mem_limit = 8 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    desc = info_of(session);
    CHECK_OK(gs_malloc(session, 64, &to));
    CHECK_OK(gs_mem_info(session, &before, &total));
    CHECK_OK(load(session, variables_ptx, &module));
    CHECK_OK(gs_mem_info(session, &after, &total));
    CHECK(before - after >= MIB);
    CHECK_OK(gs_global_get(module, "first", &first, &size));
    CHECK_EQUAL(size, 8);
    CHECK_OK(gs_global_get(module, "second", &second, &size));
    CHECK_EQUAL(size, 16);
    CHECK(second >= desc.window_base && second + size <= desc.window_base + desc.window_size);
    CHECK_OK(gs_global_get(module, "fixed", &fixed, &size));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "follow"), 1, 1, (void *[]){&to}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, &word, to, sizeof(word)));
    CHECK_EQUAL(word, 12 + 77);
    /* Both kinds can be written by copies. */
    CHECK_OK(gs_memcpy_htod(session, second + 8, &(uint32_t){500}, 4));
    CHECK_OK(gs_memcpy_htod(session, fixed, &(uint32_t){6}, 4));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "follow"), 1, 1, (void *[]){&to}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, &word, to, sizeof(word)));
    CHECK_EQUAL(word, 506);
    /* Another copy of the module has its own, with the first values. */
    CHECK_OK(load(session, variables_ptx, &again));
    CHECK_OK(kernels_launch(NULL, kernels_get(again, "follow"), 1, 1, (void *[]){&to}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, &word, to, sizeof(word)));
    CHECK_EQUAL(word, 12 + 77);
    CHECK_OK(gs_module_unload(again));
    CHECK_OK(gs_module_unload(module));
    CHECK_OK(gs_mem_info(session, &after, &total));
    CHECK_EQUAL(after, before);
    CHECK_STATUS(gs_memcpy_htod(session, second, &(uint32_t){1}, 4), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void variables_beyond_the_limit_are_refused(void)
{
    static const char large[] = HEAD ".visible .global .align 4 .b8 room[1073741824];\n"
                                     ".visible .entry f() { ret; }\n";
    struct server *server = server_start(&always);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_module module;
    size_t before, after, total;

    params.mem_limit = 8 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_mem_info(session, &before, &total));
    CHECK_STATUS(load(session, large, &module), GS_ERR_QUOTA);
    CHECK_OK(gs_mem_info(session, &after, &total));
    CHECK_EQUAL(before, after);
    CHECK_OK(load(session, strays_ptx, &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_servers_own_variables_are_not_found(void)
{
    static const char *const names[] = {"gshare$window", "gshare$print", "gshare$functions"};
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;
    gs_devptr at;
    size_t size;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(load(session, strays_ptx, &module));
    for (unsigned i = 0; i < 3; i++)
        CHECK_STATUS(gs_global_get(module, names[i], &at, &size), GS_ERR_NOT_FOUND);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- What is refused ---- */

static void what_cannot_be_fenced_is_refused_with_the_reason(void)
{
    static const char bulk[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry f(.param .u64 p)\n{ .reg .b64 %rd<2>; .reg .b32 %r;\n"
        "  .shared .align 16 .b8 s[64];\n\n"
        "  ld.param.u64 %rd0, [p];\n"
        "  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [s], %r, "
        "[s+8];\n"
        "  ret; }\n";
    static const char outside[] =
        HEAD ".extern .func (.param .b64 r) elsewhere(.param .b64 n);\n"
             ".visible .entry f(.param .u64 p)\n{ .reg .b64 %rd<2>;\n"
             "  { .param .b64 p0; .param .b64 q; st.param.b64 [p0], 8;\n"
             "  call.uni (q), elsewhere, (p0); ld.param.b64 %rd0, [q]; }\n  ret; }\n";
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(load(session, bulk, &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "line 9");
    CHECK_TEXT(gs_last_error_message(), "red.async");
    CHECK_STATUS(load(session, outside, &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "elsewhere");
    CHECK_OK(load(session, strays_ptx, &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* An ELF header that the check of sizes lets through. */
static void cubin_make(unsigned char cubin[64])
{
    static const unsigned char head[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = 190};

    memcpy(cubin, head, sizeof(head));
}

static void machine_code_is_refused(void)
{
    unsigned char cubin[64];
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;

    cubin_make(cubin);
    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(gs_module_load(session, cubin, sizeof(cubin), &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "machine code without PTX");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Whom the server fences ---- */

/* Each block has its neighbour's rank by a generic address, and writes to a foreign one. */
static const char neighbours_ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry neighbours(.param .u64 out, .param .u64 far)\n"
    "{ .reg .b64 %rd<5>; .reg .b32 %r<4>; .shared .align 4 .b32 rank;\n"
    "  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [far]; mov.u32 %r0, %cluster_ctarank;\n"
    "  st.shared.u32 [rank], %r0; barrier.cluster.arrive; barrier.cluster.wait;\n"
    "  xor.b32 %r1, %r0, 1; mov.u64 %rd2, rank; cvta.shared.u64 %rd2, %rd2;\n"
    "  mapa.u64 %rd3, %rd2, %r1; ld.u32 %r2, [%rd3]; st.u32 [%rd1], %r2;\n"
    "  mad.wide.u32 %rd4, %r0, 4, %rd0; st.global.u32 [%rd4], %r2;\n"
    "  barrier.cluster.arrive; barrier.cluster.wait; ret; }\n";

static void blocks_of_a_fenced_cluster_reach_each_other_and_nobody_else(void)
{
    struct server *server = server_start(&always);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(2, 1);
    uint32_t words[2] = {0}, foreign = 77;
    gs_session session, other;
    gs_module module;
    gs_kernel kernel;
    gs_devptr out, far;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &other));
    CHECK_OK(load(session, neighbours_ptx, &module));
    CHECK_OK(gs_kernel_get(module, "neighbours", &kernel));
    /* The stray lands where `far` would lie in the session's own window: at its beginning. */
    CHECK_OK(gs_malloc(session, 4096, &out));
    CHECK_OK(gs_malloc(other, sizeof(foreign), &far));
    out += 2048;
    CHECK_OK(gs_memcpy_htod(other, far, &foreign, sizeof(foreign)));
    config.cluster = (gs_dim3){2, 1, 1};
    CHECK_OK(gs_launch(NULL, kernel, &config, (void *[]){&out, &far}));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_memcpy_dtoh(session, words, out, sizeof(words)));
    CHECK_EQUAL(words[0], 1);
    CHECK_EQUAL(words[1], 0);
    CHECK_OK(gs_memcpy_dtoh(other, &foreign, far, sizeof(foreign)));
    CHECK_EQUAL(foreign, 77);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void who_asks_is_fenced(void)
{
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--fence", "never", NULL}});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session plain, fenced;

    CHECK_OK(gs_attach(&params, &plain));
    params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &fenced));
    CHECK_EQUAL(info_of(plain).fenced, 0);
    CHECK_EQUAL(info_of(fenced).fenced, 1);
    CHECK_EQUAL(info_of(fenced).trusts, GS_TRUST_ALL);
    params.fence = (gs_fence)7;
    CHECK_STATUS(gs_attach(&params, &plain), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_detach(fenced));
    server_stop(server);
}

struct stranger {
    gs_fence asks;
    unsigned fenced;
    gs_status machine_code; /* what becomes of a module without PTX */
};

static void stranger_run(void *argument)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct stranger *stranger = argument;
    unsigned char cubin[64];
    gs_session session;
    gs_module module;

    if (setgid(STRANGER) || setuid(STRANGER))
        test_fail(__FILE__, __LINE__, "becoming nobody");
    params.fence = stranger->asks;
    CHECK_OK(gs_attach(&params, &session));
    stranger->fenced = info_of(session).fenced;
    cubin_make(cubin);
    stranger->machine_code = gs_module_load(session, cubin, sizeof(cubin), &module);
    CHECK_OK(gs_detach(session));
}

static bool stranger_fenced(gs_fence asks)
{
    struct stranger *stranger = shared_alloc(sizeof(*stranger));

    stranger->asks = asks;
    stranger->fenced = 7;
    tenant_join(tenant_start(stranger_run, stranger));
    CHECK(stranger->fenced <= 1);
    CHECK(stranger->machine_code != GS_OK); /* it is a header and nothing more */
    CHECK_EQUAL(stranger->machine_code == GS_ERR_PERMISSION, stranger->fenced);
    return stranger->fenced;
}

static struct server *server_of_policy(const char *policy)
{
    if (geteuid() != 0)
        test_skip("needs root, to be two users");
    return server_start(
        &(struct server_options){.arguments = (const char *const[]){"--fence", policy, NULL}});
}

static void others_are_fenced_by_themselves(void)
{
    struct server *server = server_of_policy("auto");
    gs_session own;

    CHECK_OK(server_attach(server, &own));
    CHECK_EQUAL(info_of(own).fenced, 0);
    CHECK_EQUAL(info_of(own).trusts, GS_TRUST_OWNER);
    CHECK(stranger_fenced(GS_FENCE_AUTO));
    CHECK_OK(gs_detach(own));
    server_stop(server);
}

/* ---- Whom the operator trusts ---- */

static char output[8192];

static int gsctl(const char *a, const char *b, const char *c, const char *d)
{
    const char *const arguments[] = {"bin/gsctl", a, b, c, d, NULL};

    return program_run(arguments, output, sizeof(output));
}

static void a_trusted_user_is_not_fenced(void)
{
    struct server *server = server_of_policy("auto");
    gs_session before;

    CHECK_OK(server_attach(server, &before));
    CHECK_EQUAL(gsctl("trust", "65533", NULL, NULL), 0);
    CHECK(stranger_fenced(GS_FENCE_AUTO)); /* another user is trusted */
    CHECK_EQUAL(info_of(before).trusts, GS_TRUST_USERS);
    CHECK_EQUAL(gsctl("trust", "65534", NULL, NULL), 0);
    CHECK_EQUAL(gsctl("get", "--user", "65534", NULL), 0);
    CHECK_TEXT(output, "trust yes");
    CHECK(!stranger_fenced(GS_FENCE_AUTO));
    CHECK(stranger_fenced(GS_FENCE_ON));
    CHECK_EQUAL(gsctl("trust", "--no", "65533", NULL), 0);
    CHECK_EQUAL(gsctl("trust", "--no", "65534", NULL), 0);
    CHECK_EQUAL(gsctl("get", "--user", "65534", NULL), 0);
    CHECK_TEXT(output, "trust no");
    CHECK(stranger_fenced(GS_FENCE_AUTO));
    CHECK_EQUAL(info_of(before).trusts, GS_TRUST_USERS); /* it may be there still */
    CHECK_EQUAL(gsctl("set", "--user", "65534", "--trust"), 0);
    CHECK(!stranger_fenced(GS_FENCE_AUTO));
    CHECK_OK(gs_detach(before));
    server_stop(server);
}

static void trust_does_not_override_always(void)
{
    struct server *server = server_of_policy("always");
    gs_session own;

    CHECK_EQUAL(gsctl("trust", "65534", NULL, NULL), 0);
    CHECK_OK(server_attach(server, &own));
    CHECK_EQUAL(info_of(own).trusts, GS_TRUST_NOBODY);
    CHECK_OK(gs_detach(own));
    CHECK(stranger_fenced(GS_FENCE_AUTO));
    CHECK(stranger_fenced(GS_FENCE_ON));
    server_stop(server);
}

static void trust_is_set_for_one_user(void)
{
    struct server *server = server_start(NULL);

    CHECK_EQUAL(gsctl("set", "--others", "--trust", NULL), 1);
    CHECK_TEXT(output, "trust is set for one user");
    CHECK_EQUAL(gsctl("set", "--default", "--trust", NULL), 1);
    CHECK_TEXT(output, "trust is set for one user");
    CHECK_EQUAL(gsctl("trust", "no-such-user-here", NULL, NULL), 2);
    CHECK_EQUAL(gsctl("trust", NULL, NULL, NULL), 2);
    CHECK_EQUAL(gsctl("ps", "--no", NULL, NULL), 2);
    server_stop(server);
}

static void trusting_run(void *instance)
{
    struct ctl_set set = {
        .target = CTL_USER, .id = STRANGER, .settings = {.fields = CTL_TRUST, .trust = 1}};
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_done_reply reply;
    struct control control;

    CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    CHECK_OK(control_open(&control, instance, message));
    CHECK_EQUAL(control_ask(&control, &set.h, CTL_SET, sizeof(set), &reply, sizeof(reply),
                            test_deadline(10000), message),
                GS_ERR_PERMISSION);
    control_close(&control);
}

static void nobody_trusts_himself(void)
{
    struct server *server = server_of_policy("auto");

    tenant_join(tenant_start(trusting_run, server->instance));
    CHECK(stranger_fenced(GS_FENCE_AUTO));
    server_stop(server);
}

/* What operators see: the column is there where a session is fenced. */
static void ps_shows_who_is_fenced(void)
{
    struct server *server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--fence", "never", NULL}});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session plain, fenced;

    CHECK_OK(gs_attach(&params, &plain));
    CHECK_EQUAL(gsctl("ps", NULL, NULL, NULL), 0);
    CHECK(strstr(output, "FENCED") == NULL);
    params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &fenced));
    CHECK_EQUAL(gsctl("ps", NULL, NULL, NULL), 0);
    CHECK_TEXT(output, "FENCED");
    CHECK_EQUAL(gsctl("ps", "--json", NULL, NULL), 0);
    CHECK_TEXT(output, "\"fenced\"");
    CHECK_OK(gs_detach(fenced));
    CHECK_OK(gs_detach(plain));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_stray_reaches_no_neighbour),
    TEST(a_stray_faults_nobody),
    TEST(memory_comes_and_goes_beside_a_kernel_that_strays),
    TEST(a_little_memory_comes_beside_a_kernel_that_waits_for_it),
    TEST(memory_comes_beside_a_kernel_that_waits_for_it),
    TEST(memory_comes_beside_kernels_that_stray),
    TEST(an_offset_below_the_window_stays_in_it),
    TEST(an_index_leads_nowhere),
    TEST(sums_that_move_through_loops_reach_the_sessions_memory),
    TEST(memory_behind_the_first_addresses_is_reached),
    TEST(what_came_before_reaches_memory_behind_the_first_addresses),
    TEST(new_memory_is_zero_and_keeps_what_is_written),
    TEST(variables_lie_in_the_session_and_are_charged),
    TEST(variables_beyond_the_limit_are_refused),
    TEST(the_servers_own_variables_are_not_found),
    TEST(what_cannot_be_fenced_is_refused_with_the_reason),
    TEST(machine_code_is_refused),
    TEST(blocks_of_a_fenced_cluster_reach_each_other_and_nobody_else),
    TEST(who_asks_is_fenced),
    TEST(others_are_fenced_by_themselves),
    TEST(a_trusted_user_is_not_fenced),
    TEST(trust_does_not_override_always),
    TEST(trust_is_set_for_one_user),
    TEST(nobody_trusts_himself),
    TEST(ps_shows_who_is_fenced),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
