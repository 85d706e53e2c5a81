/* test_memory.c - allocations, copies of every kind and size, memsets, host memory. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

#define MIB ((size_t)1 << 20)

static unsigned char *random_bytes(size_t size)
{
    unsigned char *bytes = malloc(size + 8);
    uint64_t x = test_random() | 1;

    CHECK(bytes != NULL);
    for (size_t i = 0; i < size; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(bytes + i, &x, 8);
    }
    return bytes;
}

static void allocations_are_aligned_apart_and_inside_the_window(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_devptr at[300];
    size_t size[300];

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
        size[i] = i % 10 == 0 ? 1 + test_random() % (4 * MIB) : 1 + test_random() % 5000;
        CHECK_OK(gs_malloc(session, size[i], &at[i]));
        CHECK_EQUAL(at[i] % 256, 0);
        CHECK(at[i] >= desc.window_base);
        CHECK(at[i] + size[i] <= desc.window_base + desc.window_size);
        for (unsigned k = 0; k < i; k++)
            CHECK(at[k] + size[k] <= at[i] || at[i] + size[i] <= at[k]);
        /* Free some as we go, so that gaps are used again. */
        if (i % 3 == 2) {
            unsigned victim = (unsigned)(test_random() % i);
            CHECK_OK(gs_free(session, at[victim]));
            CHECK_OK(gs_malloc(session, size[victim], &at[victim]));
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
        CHECK_OK(gs_free(session, at[i]));
    CHECK_OK(gs_free(session, 0));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Eight of these fill a piece of the device's memory. */
#define EIGHTH (MIB / 4)

static gs_devptr eighths(gs_session session, unsigned count)
{
    gs_devptr at;

    CHECK_OK(gs_malloc(session, count * EIGHTH, &at));
    return at;
}

/* Room is taken again where there was none for a while, and by what is smaller than what has not
 * found any. */
static void room_is_used(const struct server_options *options)
{
    static const char ptx[] = PTX_HEAD PTX_FILL;
    struct server *server = server_start(options);
    gs_session session;
    gs_module module;
    gs_devptr at[25];

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load(session, ptx, strlen(ptx), &module));
    for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
        at[i] = eighths(session, 1);
    CHECK_EQUAL(server_memory_used(server), 8 * MIB);
    CHECK_OK(gs_free(session, at[3]));
    CHECK_EQUAL(eighths(session, 1), at[3]);
    CHECK_OK(gs_free(session, at[10]));
    CHECK_OK(gs_free(session, at[11]));
    CHECK_EQUAL(eighths(session, 2), at[10]);
    CHECK_OK(gs_free(session, at[20]));
    CHECK_EQUAL(eighths(session, 2), at[24] + EIGHTH);
    CHECK_EQUAL(eighths(session, 1), at[20]);
    CHECK_EQUAL(server_memory_used(server), 8 * MIB);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void room_between_small_allocations_is_used(void)
{
    room_is_used(&server_unfenced);
}

static void also_in_a_session_whose_kernels_are_fenced(void)
{
    room_is_used(
        &(struct server_options){.arguments = (const char *const[]){"--fence", "always", NULL}});
}

static void sizes_of_one_byte_to_many_staging_areas_copy_right(void)
{
    static const size_t sizes[] = {1,       2,           3,           5,           63,
                                   64,      65,          4095,        4096,        4097,
                                   65535,   65536,       65537,       100003,      MIB,
                                   MIB + 1, 2 * MIB - 1, 3 * MIB + 7, 8 * MIB + 3, 40 * MIB + 13};
    struct server *server = server_start(NULL);
    size_t most = 40 * MIB + 13 + 64;
    unsigned char *in = random_bytes(most), *out = malloc(most);
    gs_session session;
    gs_devptr a, b;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, most, &a));
    CHECK_OK(gs_malloc(session, most, &b));
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        size_t size = sizes[i], from = test_random() % 17, to = test_random() % 33;

        CHECK_OK(gs_memcpy_htod(session, a + to, in + from, size));
        CHECK_OK(gs_memcpy_dtod(session, b + from, a + to, size));
        memset(out, 0, size + 64);
        CHECK_OK(gs_memcpy_dtoh(session, out + to, b + from, size));
        CHECK_MEMORY(out + to, in + from, size);
        /* Not a byte more. */
        CHECK_EQUAL(out[to + size], 0);
        if (to > 0)
            CHECK_EQUAL(out[to - 1], 0);
    }
    free(in);
    free(out);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void copies_of_size_zero_do_nothing(void)
{
    struct server *server = server_start(NULL);
    gs_session session;
    gs_devptr memory;
    char c = 'x';

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 16, &memory));
    CHECK_OK(gs_memcpy_htod(session, memory, NULL, 0));
    CHECK_OK(gs_memcpy_dtoh(session, NULL, memory, 0));
    CHECK_OK(gs_memcpy_dtod(session, memory, memory, 0));
    CHECK_OK(gs_memset(session, memory, 1, 0));
    CHECK_OK(gs_memcpy_dtoh(session, &c, memory, 1));
    CHECK_EQUAL(c, 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void async_copies_keep_the_order_of_their_stream(void)
{
    enum { COPIES = 300, BYTES = 7001 };
    struct server *server = server_start(NULL);
    unsigned char *in = random_bytes(COPIES * BYTES), *out = calloc(COPIES, BYTES);
    gs_session session;
    gs_stream stream;
    gs_devptr memory, mirror;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, COPIES * BYTES, &memory));
    CHECK_OK(gs_malloc(session, COPIES * BYTES, &mirror));
    for (size_t i = 0; i < COPIES; i++) {
        unsigned char junk[BYTES];

        memset(junk, (int)i, sizeof(junk));
        CHECK_OK(gs_memcpy_htod_async(session, memory + i * BYTES, junk, BYTES, stream));
        /* Ordinary memory has been read when the call returns. */
        memset(junk, 0xFF, sizeof(junk));
        CHECK_OK(
            gs_memcpy_dtod_async(session, mirror + i * BYTES, memory + i * BYTES, BYTES, stream));
        CHECK_OK(gs_memcpy_htod_async(session, memory + i * BYTES, in + i * BYTES, BYTES, stream));
    }
    CHECK_OK(gs_memcpy_dtoh_async(session, out, memory, COPIES * BYTES, stream));
    CHECK_MEMORY(out, in, COPIES * BYTES);
    for (size_t i = 0; i < COPIES; i++)
        memset(in + i * BYTES, (int)i, BYTES);
    CHECK_OK(gs_memcpy_dtoh_async(session, out, mirror, COPIES * BYTES, stream));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_MEMORY(out, in, COPIES * BYTES);
    free(in);
    free(out);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void host_blocks_are_copied_from_and_to_directly(void)
{
    struct server *server = server_start(NULL);
    size_t size = 5 * MIB + 3;
    unsigned char *from, *to;
    gs_session session;
    gs_stream stream;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_host_alloc(session, size, (void **)&from));
    CHECK_OK(gs_host_alloc(session, size, (void **)&to));
    CHECK_OK(gs_malloc(session, size, &memory));
    for (size_t i = 0; i < size; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 24);
    for (unsigned round = 0; round < 5; round++) {
        size_t offset = test_random() % 5000, bytes = size - offset - test_random() % 5000;

        memset(to, 0, size);
        CHECK_OK(gs_memcpy_htod_async(session, memory + offset, from + offset, bytes, stream));
        CHECK_OK(gs_memcpy_dtoh_async(session, to + offset, memory + offset, bytes, stream));
        CHECK_OK(gs_stream_sync(session, stream));
        CHECK_MEMORY(to + offset, from + offset, bytes);
    }
    CHECK_OK(gs_host_free(session, from));
    CHECK_OK(gs_host_free(session, to));
    CHECK_OK(gs_host_free(session, NULL));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void memsets_set_the_low_byte_and_no_byte_more(void)
{
    struct server *server = server_start(NULL);
    unsigned char got[70000], wanted[70000];
    gs_session session;
    gs_stream stream;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(got), &memory));
    memset(wanted, 0, sizeof(wanted));
    for (unsigned i = 0; i < 60; i++) {
        size_t offset = test_random() % sizeof(got), size = test_random() % (sizeof(got) - offset);
        int value = (int)test_random();

        CHECK_OK(i % 2 ? gs_memset(session, memory + offset, value, size)
                       : gs_memset_async(session, memory + offset, value, size, NULL));
        memset(wanted + offset, value & 0xFF, size);
    }
    CHECK_OK(gs_memcpy_dtoh(session, got, memory, sizeof(got)));
    CHECK_MEMORY(got, wanted, sizeof(got));
    CHECK_OK(gs_memset_async(session, memory, 0x1FF, 100, stream));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_OK(gs_memcpy_dtoh(session, got, memory, 100));
    CHECK_EQUAL(got[0], 0xFF);
    CHECK_EQUAL(got[99], 0xFF);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

struct copier {
    gs_session session;
    gs_devptr memory;
    gs_stream stream;
    uint64_t seed;
};

#define COPIER_BYTES (600u << 10)

static void *copier_run(void *argument)
{
    const struct copier *self = argument;
    unsigned char *in = malloc(COPIER_BYTES), *out = malloc(COPIER_BYTES);

    for (unsigned round = 0; round < 30; round++) {
        size_t size = 1 + (self->seed * (round + 1) * 7919) % COPIER_BYTES;

        for (size_t i = 0; i < size; i++)
            in[i] = (unsigned char)((i + round) * self->seed >> 5);
        CHECK_OK(gs_memcpy_htod_async(self->session, self->memory, in, size, self->stream));
        CHECK_OK(gs_memcpy_dtoh_async(self->session, out, self->memory, size, self->stream));
        CHECK_MEMORY(out, in, size);
    }
    free(in);
    free(out);
    return NULL;
}

static void threads_copy_at_the_same_time(void)
{
    struct server *server = server_start(NULL);
    struct copier copier[6];
    pthread_t thread[6];
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < ARRAY_SIZE(copier); i++) {
        copier[i] = (struct copier){.session = session, .seed = 3 + 2 * i};
        CHECK_OK(gs_malloc(session, COPIER_BYTES, &copier[i].memory));
        /* Three share the default stream. */
        if (i % 2 == 0)
            CHECK_OK(gs_stream_create(session, NULL, &copier[i].stream));
        CHECK(pthread_create(&thread[i], NULL, copier_run, &copier[i]) == 0);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(thread); i++)
        pthread_join(thread[i], NULL);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void freed_memory_can_be_allocated_again_without_end(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    /* 100 times the limit in all: only what is given back can serve. */
    params.mem_limit = 32 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    for (unsigned i = 0; i < 160; i++) {
        gs_devptr memory;

        CHECK_OK(gs_malloc(session, 20 * MIB, &memory));
        CHECK_OK(gs_memset(session, memory + 20 * MIB - 1, 1, 1));
        CHECK_OK(gs_free(session, memory));
    }
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* The worker keeps a piece that was given back: it is empty, counts nowhere, and is in nobody's
 * way. */
static void what_is_kept_for_reuse_does_not_show(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_MEM=64M", NULL};
    struct server *server =
        server_start(&(struct server_options){.device = "soft", .environment = environment});
    size_t free_bytes, total, most = 64 * MIB;
    unsigned char bytes[5000];
    gs_session session;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    while (gs_malloc(session, most, &memory) != GS_OK)
        most -= 2 * MIB;
    CHECK_OK(gs_free(session, memory));
    for (unsigned i = 0; i < 300; i++) {
        size_t size = 1 + test_random() % (i % 2 ? sizeof(bytes) : 2 * MIB);
        size_t look = size < sizeof(bytes) ? size : sizeof(bytes);

        CHECK_OK(gs_malloc(session, size, &memory));
        CHECK_EQUAL(server_memory_used(server), 2 * MIB);
        CHECK_OK(gs_memcpy_dtoh(session, bytes, memory + size - look, look));
        for (size_t k = 0; k < look; k++)
            CHECK_EQUAL(bytes[k], 0);
        CHECK_OK(gs_memset(session, memory, 0xA5, size));
        CHECK_OK(gs_free(session, memory));
        CHECK_EQUAL(server_memory_used(server), 0);
    }
    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    CHECK(free_bytes >= most - 2 * MIB);
    CHECK_OK(gs_malloc(session, most, &memory));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Pieces of device memory that the supervisor has a descriptor of: files of the software device. */
static unsigned pieces_held(const struct server *server)
{
    char path[64], target[64];
    struct dirent *entry;
    unsigned count = 0;
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)server->pid);
    folder = opendir(path);
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        /* One that was closed since has no target. */
        ssize_t size = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
        target[size > 0 ? size : 0] = '\0';
        count += strstr(target, "memfd:softcuda") != NULL;
    }
    closedir(folder);
    return count;
}

/* By which memory can outlive the worker. */
static void the_supervisor_holds_a_descriptor_of_each_piece(void)
{
    enum { PIECES = 40 };
    struct server *server = server_start(&(struct server_options){.device = "soft"});
    gs_devptr memory[PIECES];
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_EQUAL(pieces_held(server), 0);
    for (unsigned i = 0; i < PIECES; i++)
        CHECK_OK(gs_malloc(session, 4 * MIB, &memory[i]));
    CHECK_WITHIN(10000, pieces_held(server) == PIECES);
    for (unsigned i = 0; i < PIECES; i += 2)
        CHECK_OK(gs_free(session, memory[i]));
    CHECK_WITHIN(10000, pieces_held(server) == PIECES / 2);
    /* Taken and given back before or after the descriptor was made: none stays. */
    for (unsigned i = 0; i < 200; i++) {
        CHECK_OK(gs_malloc(session, 4 * MIB, &memory[0]));
        CHECK_OK(gs_free(session, memory[0]));
    }
    CHECK_WITHIN(10000, pieces_held(server) == PIECES / 2);
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(pieces_held(server), 0);
    server_stop(server);
}

static void a_limit_counts_pieces_of_2_mib_and_says_so(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    size_t free_bytes, total;
    gs_devptr first, second, third;
    gs_session session;

    params.mem_limit = 9 * MIB; /* four pieces, and one more would be too many */
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_malloc(session, 4 * MIB + 1, &first));
    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    CHECK_EQUAL(total, 9 * MIB);
    CHECK_EQUAL(free_bytes, 3 * MIB);
    CHECK_STATUS(gs_malloc(session, 2 * MIB + 1, &second), GS_ERR_QUOTA);
    CHECK_TEXT(gs_last_error_message(),
               "2097153 bytes (2.0 MiB) wanted, counted in pieces of 2 MiB as 4 MiB");
    CHECK_TEXT(gs_last_error_message(), "6 MiB of the session's limit of 9 MiB");
    CHECK_OK(gs_malloc(session, 100, &second));
    CHECK_OK(gs_malloc(session, 100, &third)); /* in the same piece */
    CHECK_STATUS(gs_malloc(session, MIB, &third), GS_ERR_QUOTA);
    CHECK_STATUS(gs_malloc(session, SIZE_MAX, &third), GS_ERR_QUOTA);
    CHECK_STATUS(gs_malloc(session, SIZE_MAX / 2, &third), GS_ERR_QUOTA);
    CHECK_OK(gs_free(session, first));
    CHECK_OK(gs_malloc(session, 6 * MIB, &first));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_limit_that_holds_nothing_is_refused(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_devptr memory;
    gs_session session;

    params.mem_limit = 2 * MIB - 1;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "2097151 bytes");
    CHECK_TEXT(gs_last_error_message(), "pieces of 2 MiB");
    params.mem_limit = 2 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_malloc(session, 2 * MIB, &memory));
    CHECK_OK(gs_detach(session));
    server_wait_tenants(server, 0, 5000);
    server_stop(server);
}

/* Beside the bytes of test_session: elements of 16 and 32 bits, also in a graph. */
static void memsets_write_elements_of_16_and_32_bits(void)
{
    struct server *server = server_start(NULL);
    unsigned char host[64];
    gs_session session;
    gs_graph graph;
    gs_stream stream;
    gs_devptr p;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(host), &p));
    CHECK_OK(gs_memset_d16(session, p + 2, 0x1234, 3));
    CHECK_OK(gs_memset_d32(session, p + 16, 0x01020304, 2));
    CHECK_OK(gs_memcpy_dtoh(session, host, p, sizeof(host)));
    CHECK(memcmp(host, "\0\0\x34\x12\x34\x12\x34\x12\0\0", 10) == 0);
    CHECK(memcmp(host + 16, "\4\3\2\1\4\3\2\1\0", 9) == 0);

    CHECK_OK(gs_graph_begin(session, stream));
    CHECK_OK(gs_memset_d16_async(session, p, 0xabcd, 2, stream));
    CHECK_OK(gs_memset_d32_async(session, p + 4, 0x90abcdef, 1, stream));
    CHECK_OK(gs_memset_async(session, p + 8, 0x1ff, 1, stream));
    CHECK_OK(gs_graph_end(session, stream, &graph));
    CHECK_OK(gs_graph_launch(graph, stream));
    CHECK_OK(gs_stream_sync(session, stream));
    CHECK_OK(gs_memcpy_dtoh(session, host, p, sizeof(host)));
    CHECK(memcmp(host, "\xcd\xab\xcd\xab\xef\xcd\xab\x90\xff\0", 10) == 0);

    CHECK_STATUS(gs_memset_d16(session, p + 1, 0, 1), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_memset_d32(session, p + 2, 0, 1), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_memset_d32(session, p, 0, SIZE_MAX), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset_d16(session, p, 0, ((size_t)1 << 63) + 1), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_memset_d32(session, p, 0, 0));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Memory that is freed while work uses it ---- */

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        usleep(100);
}

/* Work as a host does it: it ends by itself. */
static void work_a_while(void *unused, gs_status status)
{
    (void)unused;
    (void)status;
    usleep(50000);
}

static size_t free_bytes_of(gs_session session)
{
    size_t free_bytes, total;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    return free_bytes;
}

/* gs_free returns while the work waits, which ends only when the test lets it. */
static void work_given_before_uses_freed_memory_to_its_end(void)
{
    enum { SMALL = 1000 };
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_devptr small, large, kept, other;
    _Atomic bool go = false;
    gs_session session;
    gs_stream stream;
    unsigned char *host;
    size_t before;

    params.mem_limit = 64 * MIB; /* of the session, so that nobody else changes what is free */
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_host_alloc(session, 2 * SMALL, (void **)&host));
    CHECK_OK(gs_malloc(session, SMALL, &kept));
    before = free_bytes_of(session);
    CHECK_OK(gs_malloc(session, SMALL, &small));
    CHECK_OK(gs_malloc(session, 4 * MIB, &large));
    CHECK_EQUAL(free_bytes_of(session), before - 4 * MIB);

    CHECK_OK(gs_launch_host(session, stream, stream_hold, &go));
    CHECK_OK(gs_memset_async(session, small, 7, SMALL, stream));
    CHECK_OK(gs_memset_async(session, large, 8, 4 * MIB, stream));
    CHECK_OK(gs_memcpy_dtoh_async(session, host, small, SMALL, stream));
    CHECK_OK(gs_memcpy_dtoh_async(session, host + SMALL, large + 3 * MIB, SMALL, stream));
    CHECK_OK(gs_free(session, small));
    CHECK_OK(gs_free(session, large));
    CHECK_STATUS(gs_free(session, small), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset_async(session, large, 1, 1, NULL), GS_ERR_INVALID_POINTER);

    /* It counts, and nobody gets it. */
    CHECK_EQUAL(free_bytes_of(session), before - 4 * MIB);
    CHECK_OK(gs_malloc(session, SMALL, &other));
    CHECK(other != small);
    CHECK_OK(gs_memset(session, other, 9, SMALL));
    CHECK_EQUAL(host[0], 0);

    atomic_store(&go, true);
    CHECK_OK(gs_stream_sync(session, stream));
    for (unsigned i = 0; i < SMALL; i++) {
        CHECK_EQUAL(host[i], 7);
        CHECK_EQUAL(host[SMALL + i], 8);
    }
    /* The stream tells its end just before the device has done with it. */
    while (free_bytes_of(session) != before)
        CHECK_OK(gs_sync(session));
    CHECK_OK(gs_malloc(session, SMALL, &other));
    CHECK_EQUAL(other, small);
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Small memory is another allocation's as soon as its work is done, though other work goes on. */
static void freed_memory_waits_for_earlier_work_alone(void)
{
    struct server *server = server_start(NULL);
    _Atomic bool first = false, second = false;
    gs_devptr kept, memory, again;
    gs_stream one, two;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &one));
    CHECK_OK(gs_stream_create(session, NULL, &two));
    CHECK_OK(gs_malloc(session, 1000, &kept));
    CHECK_OK(gs_malloc(session, 1000, &memory));
    CHECK_OK(gs_launch_host(session, one, stream_hold, &first));
    CHECK_OK(gs_free(session, memory));
    atomic_store(&first, true);
    CHECK_OK(gs_stream_sync(session, one));
    CHECK_OK(gs_launch_host(session, two, stream_hold, &second));
    CHECK_OK(gs_malloc(session, 1000, &again));
    CHECK_EQUAL(again, memory);
    atomic_store(&second, true);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A limit refuses nothing for what is freed already. */
static void an_allocation_waits_for_freed_memory_that_it_needs(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_stream stream;

    params.mem_limit = 32 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    for (unsigned i = 0; i < 6; i++) {
        gs_devptr memory;

        CHECK_OK(gs_malloc(session, 20 * MIB, &memory));
        CHECK_OK(gs_launch_host(session, stream, work_a_while, NULL));
        CHECK_OK(gs_memset_async(session, memory, 1, 20 * MIB, stream));
        CHECK_OK(gs_free(session, memory));
    }
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* What waits is bounded: gs_free waits itself, and the session never holds more. */
static void more_than_a_bound_is_not_kept_for_work(void)
{
    struct server *server = server_start(NULL);
    gs_session session;
    gs_stream stream;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, 258 * MIB, &memory));
    CHECK_OK(gs_launch_host(session, stream, work_a_while, NULL));
    CHECK_OK(gs_memset_async(session, memory, 1, MIB, stream));
    CHECK_OK(gs_free(session, memory));
    CHECK_OK(gs_stream_query(session, stream));
    CHECK_EQUAL(server_memory_used(server), 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(memsets_write_elements_of_16_and_32_bits),
    TEST(allocations_are_aligned_apart_and_inside_the_window),
    TEST(room_between_small_allocations_is_used),
    TEST(also_in_a_session_whose_kernels_are_fenced),
    TEST(sizes_of_one_byte_to_many_staging_areas_copy_right),
    TEST(copies_of_size_zero_do_nothing),
    TEST(async_copies_keep_the_order_of_their_stream),
    TEST(host_blocks_are_copied_from_and_to_directly),
    TEST(memsets_set_the_low_byte_and_no_byte_more),
    TEST(threads_copy_at_the_same_time),
    TEST(freed_memory_can_be_allocated_again_without_end),
    TEST(what_is_kept_for_reuse_does_not_show),
    TEST(the_supervisor_holds_a_descriptor_of_each_piece),
    TEST(a_limit_counts_pieces_of_2_mib_and_says_so),
    TEST(a_limit_that_holds_nothing_is_refused),
    TEST(work_given_before_uses_freed_memory_to_its_end),
    TEST(freed_memory_waits_for_earlier_work_alone),
    TEST(an_allocation_waits_for_freed_memory_that_it_needs),
    TEST(more_than_a_bound_is_not_kept_for_work),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
