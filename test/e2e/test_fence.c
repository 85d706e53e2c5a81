/*
 * test_fence.c - sessions whose kernels are fenced into their own memory: what their kernels do to
 * addresses of others, what becomes of their modules' variables, which modules are refused, and
 * whom the server fences.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bystander.h"
#include "harness/harness.h"

#define MIB ((size_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define N   4096u

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
        "  .shared .align 16 .b8 s[64];\n  .shared .align 8 .b64 m;\n"
        "  ld.param.u64 %rd0, [p];\n"
        "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 64, "
        "[m];\n"
        "  ret; }\n";
    static const char outside[] =
        HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
             ".visible .entry f(.param .u64 p)\n{ .reg .b64 %rd<2>;\n"
             "  { .param .b64 p0; .param .b64 q; st.param.b64 [p0], 8;\n"
             "  call.uni (q), malloc, (p0); ld.param.b64 %rd0, [q]; }\n  ret; }\n";
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(load(session, bulk, &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "line 9");
    CHECK_TEXT(gs_last_error_message(), "cp.async.bulk");
    CHECK_STATUS(load(session, outside, &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "malloc");
    CHECK_OK(load(session, strays_ptx, &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* An ELF header that the check of sizes lets through. */
static void machine_code_is_refused(void)
{
    unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    struct server *server = server_start(&always);
    gs_session session;
    gs_module module;

    cubin[18] = 190;
    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(gs_module_load(session, cubin, sizeof(cubin), &module), GS_ERR_PERMISSION);
    CHECK_TEXT(gs_last_error_message(), "machine code without PTX");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Whom the server fences ---- */

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
    params.fence = (gs_fence)7;
    CHECK_STATUS(gs_attach(&params, &plain), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_detach(fenced));
    server_stop(server);
}

static void stranger_run(void *fenced)
{
    gs_session session;

    if (setgid(65534) || setuid(65534))
        test_fail(__FILE__, __LINE__, "becoming nobody");
    CHECK_OK(gs_attach(NULL, &session));
    *(_Atomic unsigned *)fenced = 1 + info_of(session).fenced;
    CHECK_OK(gs_detach(session));
}

static void others_are_fenced_by_themselves(void)
{
    struct server *server;
    _Atomic unsigned *fenced = shared_alloc(sizeof(*fenced));
    gs_session own;

    if (geteuid() != 0)
        test_skip("needs root, to be two users");
    server = server_start(
        &(struct server_options){.arguments = (const char *const[]){"--fence", "auto", NULL}});
    CHECK_OK(server_attach(server, &own));
    CHECK_EQUAL(info_of(own).fenced, 0);
    tenant_join(tenant_start(stranger_run, (void *)fenced));
    CHECK_EQUAL(*fenced, 2);
    CHECK_OK(gs_detach(own));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_stray_reaches_no_neighbour),
    TEST(a_stray_faults_nobody),
    TEST(new_memory_is_zero_and_keeps_what_is_written),
    TEST(variables_lie_in_the_session_and_are_charged),
    TEST(variables_beyond_the_limit_are_refused),
    TEST(the_servers_own_variables_are_not_found),
    TEST(what_cannot_be_fenced_is_refused_with_the_reason),
    TEST(machine_code_is_refused),
    TEST(who_asks_is_fenced),
    TEST(others_are_fenced_by_themselves),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
