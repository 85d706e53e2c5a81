/* test_host_memory.c - memory of gs_host_alloc that kernels reach, at one address with the host. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/harness.h"

#define MIB   ((size_t)1 << 20)
#define GIB   ((size_t)1 << 30)
#define WORDS (MIB / sizeof(uint32_t))

/* answer: for `rounds` rounds waits until words[0] is the round's number, adds it to words[16] and
 * then stores it in words[32]. */
static const char answer_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry answer(.param .u64 words, .param .u32 rounds)\n"
    "{ .reg .b64 %rd; .reg .b32 %r<4>; .reg .pred %p;\n"
    "  ld.param.u64 %rd, [words]; ld.param.u32 %r0, [rounds]; mov.u32 %r1, 1;\n"
    "again: ld.volatile.global.u32 %r2, [%rd]; setp.ne.u32 %p, %r2, %r1; @%p bra again;\n"
    "  membar.sys; atom.sys.global.add.u32 %r3, [%rd+64], %r1;\n"
    "  membar.sys; st.volatile.global.u32 [%rd+128], %r1;\n"
    "  add.u32 %r1, %r1, 1; setp.le.u32 %p, %r1, %r0; @%p bra again; ret; }\n";

static const char poke_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry poke(.param .u64 at, .param .u32 value)\n"
    "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [at]; ld.param.u32 %r, [value];\n"
    "  st.global.u32 [%rd], %r; ret; }\n";

/* A block of zeros that kernels reach, and where they do. */
static uint32_t *block_make(gs_session session, size_t size, gs_devptr *device)
{
    void *host;

    CHECK_OK(gs_host_alloc(session, size, &host));
    CHECK_OK(gs_host_device_ptr(session, host, device));
    return host;
}

static void a_kernel_that_runs_and_the_host_see_each_others_stores(
    const struct server_options *options)
{
    enum { ROUNDS = 50 };
    struct server *server = server_start(options);
    uint32_t rounds = ROUNDS;
    _Atomic uint32_t *words;
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr device;

    CHECK_OK(server_attach(server, &session));
    words = (_Atomic uint32_t *)block_make(session, 4096, &device);
    CHECK_OK(gs_module_load(session, answer_ptx, sizeof(answer_ptx) - 1, &module));
    CHECK_OK(gs_kernel_get(module, "answer", &kernel));
    void *args[] = {&device, &rounds};
    CHECK_OK(gs_stream_sync(session, NULL));
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, args));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store(&words[0], i);
        CHECK_WITHIN(20000, atomic_load(&words[32]) == i);
        CHECK_EQUAL(atomic_load(&words[16]), i * (i + 1) / 2);
    }
    CHECK_OK(gs_stream_sync(session, NULL));
    CHECK_OK(gs_host_free(session, (void *)words));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void host_and_kernels_have_one_address(const struct server_options *options)
{
    struct server *server = server_start(options);
    gs_session session;
    gs_devptr device, inside;
    uint32_t *host;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 20; i++) {
        host = block_make(session, 1 + i * 100003, &device);
        CHECK_EQUAL(device, (uintptr_t)host);
        CHECK_OK(gs_host_device_ptr(session, (char *)host + i * 100003, &inside));
        CHECK_EQUAL(inside, device + i * 100003);
        if (i % 3 == 0)
            CHECK_OK(gs_host_free(session, host));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Whole blocks, by kernels and by copies that name them by either address. */
static void kernels_and_copies_reach_all_of_a_block(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t n = WORDS, value = 7, *host, *got = malloc(MIB);
    gs_devptr device, memory;
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    host = block_make(session, MIB, &device);
    CHECK_OK(gs_malloc(session, MIB, &memory));
    module = kernels_load(session);
    void *args[] = {&device, &value, &n};
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), WORDS / 256, 256, args));
    CHECK_OK(gs_stream_sync(session, NULL));
    for (uint32_t i = 0; i < n; i++)
        CHECK_EQUAL(host[i], 7 + i);
    CHECK_OK(gs_memcpy_htod(session, memory, host, MIB));
    CHECK_OK(gs_memset(session, device, 0, MIB));
    CHECK_EQUAL(host[0] | host[WORDS - 1], 0);
    CHECK_OK(gs_memcpy_dtod(session, device, memory, MIB));
    CHECK_EQUAL(host[WORDS - 1], 7 + WORDS - 1);
    CHECK_OK(gs_memcpy_dtoh(session, got, device, MIB));
    CHECK_MEMORY(got, host, MIB);
    memset(host, 0, MIB);
    CHECK_OK(gs_memcpy_dtoh(session, host, memory, MIB));
    CHECK_MEMORY(got, host, MIB);
    free(got);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* It is not device memory of gs_malloc, and nobody else's. */
static void a_block_is_its_sessions_until_it_is_freed(const struct server_options *options)
{
    struct server *server = server_start(options);
    gs_session session, other;
    gs_mem_handle handle;
    gs_devptr device, memory;
    uint32_t *host;
    char byte = 1;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &other));
    host = block_make(session, 3 * MIB, &device);
    CHECK_STATUS(gs_free(session, device), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_mem_export(session, device, GS_EXPORT_TO_USER, &handle),
                 GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_mem_revoke(session, device), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(session, device + 3 * MIB - 1, 1, 2), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_device_ptr(other, host, &memory), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_device_ptr(session, &byte, &memory), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_device_ptr(session, host, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_memset(other, device, 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_htod(other, device, &byte, 1), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_memset(session, device, 0, 3 * MIB));
    CHECK_OK(gs_host_free(session, host));
    CHECK_STATUS(gs_memset(session, device, 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_device_ptr(session, host, &memory), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_detach(session));
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

static void blocks_come_and_go_without_end(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t value = 1, n = 1024, *host[4];
    gs_devptr device[4];
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(host); k++) {
            host[k] = block_make(session, 4096 + test_random() % (4 * MIB), &device[k]);
            void *args[] = {&device[k], &value, &n};
            CHECK_EQUAL(host[k][0] | host[k][1023], 0);
            CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), 4, 256, args));
        }
        CHECK_OK(gs_stream_sync(session, NULL));
        for (unsigned k = 0; k < ARRAY_SIZE(host); k++) {
            CHECK_EQUAL(host[k][1023], 1024);
            CHECK_OK(gs_host_free(session, host[k]));
        }
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The process has something of its own where the device has the block. */
static void a_process_without_the_address_has_another(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t value = 5, n = 1024, *host;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_devptr device;
    gs_session session;
    void *own;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_detach(session));
    own = mmap((void *)(uintptr_t)desc.window_base, desc.window_size, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(own != MAP_FAILED);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    host = block_make(session, MIB, &device);
    if (device - (uintptr_t)own >= desc.window_size)
        test_skip("the second window, 0x%llx, is not where the first was, %p",
                  (unsigned long long)desc.window_base, own);
    CHECK_EQUAL(desc.window_reserved, 0);
    CHECK(device != (uintptr_t)host);
    void *args[] = {&device, &value, &n};
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(session), "fill"), 4, 256, args));
    CHECK_OK(gs_stream_sync(session, NULL));
    CHECK_EQUAL(host[1023], 5 + 1023);
    CHECK_OK(gs_memset(session, device, 0, 4));
    CHECK_EQUAL(host[0], 0);
    CHECK_OK(gs_host_free(session, host));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A kernel that strays all over a small block's place reaches the block and nobody else, while
 * blocks and memory come and go around it. */
static void strays_around_blocks_hurt_nobody(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t value = 0x01010101, *host, *other;
    gs_session session, neighbour;
    gs_devptr device, there, memory;
    gs_module module;
    gs_stream stream;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &neighbour));
    other = block_make(neighbour, 4096, &there);
    CHECK_OK(gs_module_load(session, poke_ptx, sizeof(poke_ptx) - 1, &module));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    for (unsigned i = 0; i < 40; i++) {
        host = block_make(session, 4096 << i % 11, &device);
        for (unsigned k = 0; k < 16; k++) {
            /* In the block and behind it, to the ends of the granules before and behind. */
            there = device - 2 * MIB + k * (6 * MIB / 16);
            CHECK_OK(kernels_launch(stream, kernels_get(module, "poke"), 1, 1,
                                    (void *[]){&there, &value}));
        }
        CHECK_OK(gs_malloc(session, (1 + i % 3) * MIB, &memory));
        CHECK_OK(gs_free(session, memory));
        CHECK_OK(gs_host_free(session, host));
    }
    CHECK_OK(gs_sync(session));
    for (unsigned i = 0; i < 1024; i++)
        CHECK_EQUAL(other[i], 0);
    CHECK_OK(gs_detach(session));
    CHECK_OK(gs_detach(neighbour));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Blocks of ever other sizes: what is freed is not in the way of what comes. */
static void freed_blocks_leave_room(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t value = 3, n = 1024;
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    for (unsigned round = 0; round < 2; round++) {
        gs_devptr device;
        uint32_t *host[80], *large;

        /* More rest than may; then none of them is large enough. */
        for (unsigned i = 0; i < ARRAY_SIZE(host); i++) {
            host[i] = block_make(session, 4096, &device);
            CHECK_EQUAL(host[i][0], 0);
            host[i][0] = 1;
        }
        for (unsigned i = 0; i < ARRAY_SIZE(host); i++)
            CHECK_OK(gs_host_free(session, host[i]));
        large = block_make(session, 8 * MIB + round * MIB * 4, &device);
        CHECK_EQUAL(large[2 * MIB - 1], 0);
        large[2 * MIB - 1] = 1;
        void *args[] = {&device, &value, &n};
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), 4, 256, args));
        CHECK_OK(gs_sync(session));
        CHECK_EQUAL(large[1023], 3 + 1023);
        CHECK_OK(gs_host_free(session, large));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Each for sessions whose kernels are fenced too. */
static const struct server_options fenced = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

#define BOTH(name)                                                                                 \
    static void name##_unfenced(void)                                                              \
    {                                                                                              \
        name(&server_unfenced);                                                                    \
    }                                                                                              \
    static void name##_fenced(void)                                                                \
    {                                                                                              \
        name(&fenced);                                                                             \
    }

BOTH(a_kernel_that_runs_and_the_host_see_each_others_stores)
BOTH(host_and_kernels_have_one_address)
BOTH(kernels_and_copies_reach_all_of_a_block)
BOTH(a_block_is_its_sessions_until_it_is_freed)
BOTH(blocks_come_and_go_without_end)
BOTH(a_process_without_the_address_has_another)
BOTH(freed_blocks_leave_room)

static void strays_around_blocks_hurt_nobody_fenced(void)
{
    strays_around_blocks_hurt_nobody(&fenced);
}

static const struct test tests[] = {
    TEST(a_kernel_that_runs_and_the_host_see_each_others_stores_unfenced),
    TEST(a_kernel_that_runs_and_the_host_see_each_others_stores_fenced),
    TEST(host_and_kernels_have_one_address_unfenced),
    TEST(host_and_kernels_have_one_address_fenced),
    TEST(kernels_and_copies_reach_all_of_a_block_unfenced),
    TEST(kernels_and_copies_reach_all_of_a_block_fenced),
    TEST(a_block_is_its_sessions_until_it_is_freed_unfenced),
    TEST(a_block_is_its_sessions_until_it_is_freed_fenced),
    TEST(blocks_come_and_go_without_end_unfenced),
    TEST(blocks_come_and_go_without_end_fenced),
    TEST(a_process_without_the_address_has_another_unfenced),
    TEST(a_process_without_the_address_has_another_fenced),
    TEST(freed_blocks_leave_room_unfenced),
    TEST(freed_blocks_leave_room_fenced),
    TEST(strays_around_blocks_hurt_nobody_fenced),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
