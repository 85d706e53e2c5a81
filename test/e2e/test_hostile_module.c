/*
 * test_hostile_module.c - modules that a tenant makes so that their loading hurts others: a fatbin
 * packs much PTX into few bytes, and holds it where machine code belongs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_server.h"

/* ---- Fatbins --------------------------------------------------------------------------------- */

enum { KIND_PTX = 1, FLAG_ZSTD = 0x8000 };

struct fatbin {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
    struct {
        uint16_t kind, version;
        uint32_t header_size;
        uint64_t size;
        uint32_t packed_size, options, numbers, arch, name[2];
        uint64_t flags, reserved, unpacked_size;
    } entry;
    unsigned char payload[];
};

_Static_assert(sizeof(struct fatbin) == 16 + 64, "headers of a fatbin with one entry");

/* A fatbin of one entry for sm_80, whose payload is padded with NULs. */
static struct fatbin *fatbin_new(uint16_t kind, const void *payload, size_t bytes, size_t *size)
{
    size_t padded = (bytes + 8) & ~(size_t)7;
    struct fatbin *fatbin = calloc(1, sizeof(*fatbin) + padded);

    CHECK(fatbin != NULL);
    *fatbin = (struct fatbin){.magic = 0xba55ed50,
                              .version = 1,
                              .header_size = 16,
                              .size = sizeof(fatbin->entry) + padded,
                              .entry = {.kind = kind,
                                        .version = 0x0101,
                                        .header_size = sizeof(fatbin->entry),
                                        .size = padded,
                                        .arch = 80,
                                        .flags = 0x11}};
    memcpy(fatbin->payload, payload, bytes);
    *size = sizeof(*fatbin) + padded;
    return fatbin;
}

/* So much text: the harness's kernels, then comments. */
static struct fatbin *fatbin_of_text(size_t bytes, size_t *size)
{
    static const char more[] = "\n.visible .entry nobodys() { ret; }\n";
    size_t length = strlen(kernels_ptx);
    char *text = malloc(bytes + 1);

    CHECK(text != NULL && bytes > length + sizeof(more));
    memcpy(text, kernels_ptx, length);
    /* No text that anybody has compiled, also without its comments. */
    memcpy(text + length, more, sizeof(more) - 1);
    length += sizeof(more) - 1;
    for (size_t i = length; i < bytes; i++)
        text[i] = "// no code\n"[(i - length) % 11];
    text[bytes - 1] = '\n';
    struct fatbin *fatbin = fatbin_new(KIND_PTX, text, bytes, size);
    free(text);
    return fatbin;
}

/* ---- The scene ------------------------------------------------------------------------------- */

struct scene {
    struct server *server;
    struct driver_plan *plan;
    struct gate done; /* the hostile tenant has had its answer */
};

static struct scene *scene_new(void)
{
    struct scene *s = shared_alloc(sizeof(*s));

    s->server = driver_server_start(server_unfenced.arguments, 0, &s->plan);
    return s;
}

static void load_much(void *argument)
{
    struct scene *s = argument;
    gs_session session;
    gs_module module;
    uint32_t counted;
    gs_devptr counter;
    size_t size;

    CHECK_OK(gs_attach(NULL, &session));
    struct fatbin *fatbin = fatbin_of_text((size_t)16 << 20, &size);
    CHECK_OK(gs_module_load(session, fatbin, size, &module));
    free(fatbin);
    gate_pass(&s->done);
    CHECK_OK(gs_malloc(session, sizeof(counted), &counter));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "count"), 2, 32, (void *[]){&counter}));
    CHECK_OK(gs_memcpy_dtoh(session, &counted, counter, sizeof(counted)));
    CHECK_EQUAL(counted, 64);
    CHECK_OK(gs_detach(session));
}

static void others_launch_while_the_ptx_of_a_fatbin_is_compiled(void)
{
    enum { LAUNCHES = 2000 };
    struct scene *s = scene_new();
    uint32_t counted;
    gs_session session;
    gs_devptr counter;

    CHECK_OK(gs_attach(NULL, &session));
    gs_kernel increment = kernels_get(kernels_load(session), "increment");
    CHECK_OK(gs_malloc(session, sizeof(counted), &counter));
    snprintf(s->plan->held, sizeof(s->plan->held), "cuLinkComplete");
    atomic_store(&s->plan->holding, 1);
    pid_t pid = tenant_start(load_much, s);
    CHECK_WITHIN(60000, atomic_load(&s->plan->waiting) == 1);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        CHECK_OK(kernels_launch(NULL, increment, 1, 1, (void *[]){&counter}));
        if (i % 16 == 0)
            CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_memcpy_dtoh(session, &counted, counter, sizeof(counted)));
    CHECK_EQUAL(counted, LAUNCHES);
    CHECK_EQUAL(atomic_load(&s->plan->waiting), 1);
    CHECK_EQUAL(atomic_load(&s->done.count), 0);
    atomic_store(&s->plan->holding, 0);
    futex_wake(&s->plan->holding);
    tenant_join(pid);
    /* What the driver loads while launches wait has been compiled before. */
    CHECK_EQUAL(atomic_load(&s->plan->containers), 0);
    CHECK_OK(gs_detach(session));
    server_stop(s->server);
}

static void refused(gs_session session, struct fatbin *fatbin, size_t size, gs_status status,
                    const char *why)
{
    gs_module module;

    CHECK_STATUS(gs_module_load(session, fatbin, size, &module), status);
    CHECK_TEXT(gs_last_error_message(), why);
    free(fatbin);
}

static void what_the_driver_would_have_to_unpack_and_compile_is_refused(void)
{
    struct scene *s = scene_new();
    struct fatbin *fatbin, *inner;
    size_t size, inner_size;
    gs_session session;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    /* Few bytes that unpack to more than the limit. */
    fatbin = fatbin_of_text(65536, &size);
    fatbin->entry.flags |= FLAG_ZSTD;
    fatbin->entry.packed_size = 5500;
    fatbin->entry.unpacked_size = ((uint64_t)64 << 20) + 1;
    refused(session, fatbin, size, GS_ERR_LIMIT, "67108864");
    /* PTX for newer devices, beside which the driver may have other things to compile; the software
     * device has no driver that would, and reads it. */
    fatbin = fatbin_of_text(65536, &size);
    fatbin->entry.arch = 120;
    if (test_device_is_soft(session)) {
        CHECK_OK(gs_module_load(session, fatbin, size, &module));
        free(fatbin);
    } else {
        refused(session, fatbin, size, GS_ERR_BAD_IMAGE, "sm_120");
    }
    /* What is neither PTX nor machine code: intermediate code, which the driver links at load. */
    fatbin = fatbin_of_text(65536, &size);
    fatbin->entry.kind = 8;
    refused(session, fatbin, size, GS_ERR_BAD_IMAGE, "no PTX");
    /* A container in the place of PTX. */
    inner = fatbin_of_text(65536, &inner_size);
    fatbin = fatbin_new(KIND_PTX, inner, inner_size, &size);
    refused(session, fatbin, size, GS_ERR_BAD_IMAGE, "no text");
    free(inner);
    fatbin = fatbin_new(KIND_PTX,
                        "\x7f"
                        "ELF",
                        4, &size);
    refused(session, fatbin, size, GS_ERR_BAD_IMAGE, "no text");
    fatbin = fatbin_new(KIND_PTX, "", 0, &size);
    refused(session, fatbin, size, GS_ERR_BAD_IMAGE, "no text");
    CHECK_EQUAL(atomic_load(&s->plan->containers), 0);
    kernels_get(kernels_load(session), "fill");
    CHECK_OK(gs_detach(session));
    server_stop(s->server);
}

static void text_beyond_the_limit_is_refused(void)
{
    enum { LIMIT = 64 << 20 };
    struct scene *s = scene_new();
    char *text = malloc(LIMIT + 2);
    gs_session session;
    gs_module module;

    CHECK(text != NULL);
    memset(text, '\n', LIMIT + 2);
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_STATUS(gs_module_load(session, text, LIMIT + 1, &module), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "67108864");
    free(text);
    CHECK_OK(gs_detach(session));
    server_stop(s->server);
}

/* A fatbin of few bytes whose PTX unpacks to that many zeros, a text that ends where it begins. */
static struct fatbin *fatbin_of_zeros(uint32_t bytes, size_t *size)
{
    enum { BLOCK = 128 << 10, SINGLE_SEGMENT_4 = 0xa0, RLE = 1 };
    unsigned char frame[4096] = {0x28, 0xb5, 0x2f, 0xfd, SINGLE_SEGMENT_4};
    size_t n = 5;

    memcpy(frame + n, &bytes, sizeof(bytes));
    n += sizeof(bytes);
    for (uint32_t left = bytes; left; n += 4) {
        const uint32_t block = left < BLOCK ? left : BLOCK;
        const uint32_t header = block << 3 | RLE << 1 | (block == left);

        CHECK(n + 4 <= sizeof(frame));
        memcpy(frame + n, &header, 4); /* three bytes, and the zero */
        left -= block;
    }
    struct fatbin *fatbin = fatbin_new(KIND_PTX, frame, n, size);
    fatbin->entry.flags |= FLAG_ZSTD;
    fatbin->entry.packed_size = (uint32_t)n;
    fatbin->entry.unpacked_size = bytes;
    return fatbin;
}

/* A thousand of them would be 64 GiB of the server's memory. */
static void images_to_be_linked_count_as_large_as_they_are_unpacked(void)
{
    enum { IMAGES = 3 };
    struct server *server = server_start(&server_unfenced);
    const void *images[IMAGES];
    size_t sizes[IMAGES], size;
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    struct fatbin *fatbin = fatbin_of_zeros(40u << 20, &size);
    for (unsigned i = 0; i < IMAGES; i++) {
        images[i] = fatbin;
        sizes[i] = size;
    }
    CHECK_STATUS(gs_module_link(session, images, sizes, IMAGES, &module), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "67108864");
    free(fatbin);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The rewriting has nothing to do in such a module. */
static void a_fatbin_of_variables_alone_is_loaded(void)
{
    static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                               ".visible .global .align 4 .u32 numbers[4] = {1, 2, 3, 4};\n";
    struct server *server = server_start(NULL);
    unsigned numbers[4];
    gs_session session;
    gs_module module;
    gs_devptr address;
    size_t size, bytes;

    CHECK_OK(server_attach(server, &session));
    struct fatbin *fatbin = fatbin_new(KIND_PTX, text, sizeof(text), &size);
    CHECK_OK(gs_module_load(session, fatbin, size, &module));
    free(fatbin);
    CHECK_OK(gs_global_get(module, "numbers", &address, &bytes));
    CHECK_EQUAL(bytes, sizeof(numbers));
    CHECK_OK(gs_memcpy_dtoh(session, numbers, address, sizeof(numbers)));
    CHECK_EQUAL(numbers[3], 4);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Neither for another tenant, nor for the next worker. */
static void the_same_text_is_compiled_once(void)
{
    static const char other[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                                ".visible .entry other() { ret; }\n";
    struct scene *s = scene_new();
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session first, second;
    gs_module module;
    gs_devptr counter;
    uint32_t counted;
    pid_t worker;

    params.fence = GS_FENCE_ON; /* such a session outlives the worker, whatever its modules have */
    CHECK_OK(gs_attach(&params, &first));
    gs_kernel count = kernels_get(kernels_load(first), "count");
    CHECK_OK(gs_malloc(first, sizeof(counted), &counter));
    snprintf(s->plan->only, sizeof(s->plan->only), "cuLinkComplete");
    atomic_store(&s->plan->armed, 1); /* the next one fails */
    CHECK_OK(gs_attach(&params, &second));
    kernels_load(second);

    worker = server_worker_pid(s->server);
    CHECK(kill(worker, SIGKILL) == 0);
    CHECK_WITHIN(20000, server_worker_pid(s->server) != worker && server_worker_pid(s->server));
    CHECK_OK(kernels_launch(NULL, count, 2, 32, (void *[]){&counter}));
    CHECK_OK(gs_memcpy_dtoh(first, &counted, counter, sizeof(counted)));
    CHECK_EQUAL(counted, 64);
    kernels_load(second);
    CHECK_EQUAL(atomic_load(&s->plan->failures), 0);

    CHECK(gs_module_load(second, other, strlen(other), &module) != GS_OK);
    CHECK_EQUAL(atomic_load(&s->plan->failures), 1);
    CHECK_OK(gs_detach(second));
    CHECK_OK(gs_detach(first));
    server_stop(s->server);
}

static const struct test tests[] = {
    TEST(the_same_text_is_compiled_once),
    TEST(a_fatbin_of_variables_alone_is_loaded),
    TEST_WITHIN(others_launch_while_the_ptx_of_a_fatbin_is_compiled, 120),
    TEST(what_the_driver_would_have_to_unpack_and_compile_is_refused),
    TEST(text_beyond_the_limit_is_refused),
    TEST(images_to_be_linked_count_as_large_as_they_are_unpacked),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
