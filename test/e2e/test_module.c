/* test_module.c - loading modules, looking kernels and variables up, and parameters of all sizes.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bystander.h"
#include "gsctl_run.h"
#include "harness/harness.h"

static void a_module_loads_from_text_from_bytes_and_from_a_file(void)
{
    struct server *server = server_start(NULL);
    char path[] = "/tmp/gshare-test-XXXXXX";
    int fd = mkstemp(path);
    gs_session session;
    gs_module module[4];

    CHECK(fd >= 0);
    CHECK(write(fd, kernels_ptx, strlen(kernels_ptx)) == (ssize_t)strlen(kernels_ptx));
    close(fd);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load(session, kernels_ptx, 0, &module[0]));
    CHECK_OK(gs_module_load(session, kernels_ptx, strlen(kernels_ptx), &module[1]));
    CHECK_OK(gs_module_load(session, kernels_ptx, strlen(kernels_ptx) + 1, &module[2]));
    CHECK_OK(gs_module_load_file(session, path, &module[3]));
    unlink(path);
    for (unsigned i = 0; i < 4; i++) {
        kernels_get(module[i], "fill");
        for (unsigned k = 0; k < i; k++)
            CHECK(module[k] != module[i]);
        CHECK_OK(gs_module_unload(module[i]));
        CHECK_STATUS(gs_module_unload(module[i]), GS_ERR_INVALID_HANDLE);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_module_tells_its_kernels(void)
{
    struct server *server = server_start(NULL);
    gs_session session;
    gs_module module;
    unsigned count = 0, found = 0;
    char name[8192], cut[4];

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_module_kernel_count(module, &count));
    CHECK(count > 10);
    for (unsigned i = 0; i < count; i++) {
        CHECK_OK(gs_module_kernel_name(module, i, name, sizeof(name)));
        CHECK(strstr(name, "gshare$") == NULL);
        CHECK_OK(gs_module_kernel_name(module, i, cut, sizeof(cut)));
        CHECK(strncmp(cut, name, 3) == 0 && strlen(cut) <= 3);
        found += strcmp(name, "fill") == 0 || strcmp(name, "increment") == 0;
        kernels_get(module, name);
    }
    CHECK_EQUAL(found, 2);
    CHECK_STATUS(gs_module_kernel_name(module, count, name, sizeof(name)), GS_ERR_NOT_FOUND);
    CHECK_STATUS(gs_module_kernel_name(module, 0, NULL, 0), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_kernel_count(module, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_module_unload(module));
    CHECK_STATUS(gs_module_kernel_count(module, &count), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* One calls what the other has, and both have a variable of the same name of their own. */
static void a_kernel_that_the_software_device_lacks_leaves_the_others(void)
{
    static const char text[] =
        ".version 7.8\n.target sm_90\n.address_size 64\n"
        ".visible .entry good(.param .u64 p)\n{ .reg .b64 %x; ld.param.u64 %x, [p];\n"
        "st.global.u32 [%x], 9; ret; }\n"
        ".visible .entry lacking(.param .u64 p)\n{ .reg .b32 %r<2>;\n"
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1}; ret; }\n";
    struct server *server = server_start(NULL);
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr to;
    uint32_t found;

    CHECK_OK(server_attach(server, &session));
    if (!test_device_is_soft(session))
        test_skip("a GPU refuses the module");
    CHECK_OK(gs_malloc(session, sizeof(found), &to));
    CHECK_OK(gs_module_load(session, text, sizeof(text), &module));
    CHECK_STATUS(gs_kernel_get(module, "lacking", &kernel), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "kernel \"lacking\" cannot be had: line ");
    CHECK_TEXT(gs_last_error_message(), "stmatrix.sync.aligned");
    CHECK_STATUS(gs_kernel_get(module, "lack", &kernel), GS_ERR_NOT_FOUND);
    CHECK_OK(gs_kernel_get(module, "good", &kernel));
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&to}));
    CHECK_OK(gs_memcpy_dtoh(session, &found, to, sizeof(found)));
    CHECK_EQUAL(found, 9);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void modules_that_need_each_other_are_linked(void)
{
    static const char caller[] = PTX_HEAD
        ".global .u32 own = 1;\n.extern .func (.param .b32 r) plus(.param .b32 x);\n"
        ".visible .entry k(.param .u64 to) {\n.reg .b32 %r<4>;\n.reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [to];\ncvta.to.global.u64 %d2, %d1;\nld.global.u32 %r1, [own];\n"
        "{ .param .b32 x;\n.param .b32 r;\nst.param.b32 [x], %r1;\ncall (r), plus, (x);\n"
        "ld.param.b32 %r2, [r]; }\nst.global.u32 [%d2], %r2;\nret; }\n";
    static const char callee[] =
        PTX_HEAD ".global .u32 own = 40;\n.visible .func (.param .b32 r) plus(.param .b32 x) {\n"
                 ".reg .b32 %r<4>;\nld.param.b32 %r1, [x];\nld.global.u32 %r2, [own];\n"
                 "add.u32 %r3, %r1, %r2;\nst.param.b32 [r], %r3;\nret; }\n";
    const void *const both[] = {caller, callee}, *const twice[] = {callee, callee};
    const size_t sizes[] = {sizeof(caller), sizeof(callee) - 1};
    struct server *server = server_start(NULL);
    gs_session session;
    gs_module module;
    gs_devptr to;
    uint32_t found;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(found), &to));
    for (unsigned with_sizes = 0; with_sizes < 2; with_sizes++) {
        CHECK_OK(gs_module_link(session, both, with_sizes ? sizes : NULL, 2, &module));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "k"), 1, 1, (void *[]){&to}));
        CHECK_OK(gs_memcpy_dtoh(session, &found, to, sizeof(found)));
        CHECK_EQUAL(found, 41);
        CHECK_OK(gs_module_unload(module));
    }
    CHECK_STATUS(gs_module_link(session, both, NULL, 0, &module), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_link(session, both, NULL, 1025, &module), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_link(session, NULL, NULL, 2, &module), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_link(session, twice, NULL, 2, &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "plus is defined in text 1 and in text 2");
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void kernels_compute_what_they_should(void)
{
    enum { N = 1000 };
    struct server *server = server_start(NULL);
    uint32_t n = N, value = 77, factor_bits, words[N];
    float a[N], b[N], out[N], factor = 2.5f;
    gs_session session;
    gs_module module;
    gs_devptr da, db, dout, dwords;

    memcpy(&factor_bits, &factor, sizeof(factor_bits));
    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_malloc(session, sizeof(a), &da));
    CHECK_OK(gs_malloc(session, sizeof(b), &db));
    CHECK_OK(gs_malloc(session, sizeof(out), &dout));
    CHECK_OK(gs_malloc(session, sizeof(words), &dwords));
    for (unsigned i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)i * 0.5f;
    }
    CHECK_OK(gs_memcpy_htod(session, da, a, sizeof(a)));
    CHECK_OK(gs_memcpy_htod(session, db, b, sizeof(b)));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "add"), (N + 127) / 128, 128,
                            (void *[]){&da, &db, &dout, &n}));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "scale"), (N + 63) / 64, 64,
                            (void *[]){&dout, &factor_bits, &n}));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), (N + 31) / 32, 32,
                            (void *[]){&dwords, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, out, dout, sizeof(out)));
    CHECK_OK(gs_memcpy_dtoh(session, words, dwords, sizeof(words)));
    for (unsigned i = 0; i < N; i++) {
        CHECK(out[i] == (a[i] + b[i]) * factor);
        CHECK_EQUAL(words[i], value + i);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void parameters_of_every_size_arrive(void)
{
    struct server *server = server_start(NULL);
    static const size_t sizes[] = {1, 2, 4, 8, 20, 8, 8};
    uint8_t a = 0xFE;
    uint16_t b = 0xFEDC;
    uint32_t c = 0xFEDCBA98, e[5] = {1, 22, 333, 4444, 0xFFFFFFFF};
    uint64_t d = 0xFEDCBA9876543210, out[10], wanted[10];
    double f = 1234.25;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_kernel_desc desc = GS_KERNEL_DESC_INIT;
    gs_session session;
    gs_kernel kernel;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    kernel = kernels_get(kernels_load(session), "many_parameters");
    CHECK_OK(gs_kernel_info(kernel, &desc));
    CHECK_EQUAL(desc.param_count, 7);
    CHECK_TEXT(desc.name, "many_parameters");
    CHECK(desc.max_threads_per_block > 0 && desc.max_threads_per_block <= 1024);
    for (unsigned i = 0, end = 0; i < 7; i++) {
        size_t offset, size;

        CHECK_OK(gs_kernel_param_info(kernel, i, &offset, &size));
        CHECK_EQUAL(size, sizes[i]);
        CHECK(offset >= end && offset % (size == 20 ? 4 : size) == 0);
        end = (unsigned)(offset + size);
        CHECK(end <= desc.param_bytes);
        CHECK_OK(gs_kernel_param_info(kernel, i, NULL, NULL));
    }
    CHECK_STATUS(gs_kernel_param_info(kernel, 7, NULL, NULL), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "7");

    CHECK_OK(gs_malloc(session, sizeof(out), &memory));
    config.arg_count = 7;
    config.arg_sizes = sizes;
    CHECK_OK(gs_launch(NULL, kernel, &config, (void *[]){&a, &b, &c, &d, e, &f, &memory}));
    CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
    wanted[0] = a;
    wanted[1] = b;
    wanted[2] = c;
    wanted[3] = d;
    for (unsigned i = 0; i < 5; i++)
        wanted[4 + i] = e[i];
    wanted[9] = (uint64_t)(f * 4.0);
    CHECK_MEMORY(out, wanted, sizeof(out));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* PTX of a kernel  big(struct {u32 x[words];} s, u32 *out)  that copies s to out. */
static char *big_kernel(unsigned words)
{
    size_t room = 1024 + (size_t)words * 96;
    char *text = malloc(room);
    size_t n;

    CHECK(text != NULL);
    n = (size_t)snprintf(text, room,
                         ".version 6.4\n.target sm_70\n.address_size 64\n"
                         ".visible .entry big(.param .align 8 .b8 big_param_0[%u],\n"
                         "                    .param .u64 big_param_1)\n{\n"
                         "  .reg .b32 %%r<2>;\n  .reg .b64 %%rd<3>;\n"
                         "  ld.param.u64 %%rd1, [big_param_1];\n"
                         "  cvta.to.global.u64 %%rd2, %%rd1;\n",
                         words * 4);
    for (unsigned i = 0; i < words; i++)
        n += (size_t)snprintf(text + n, room - n,
                              "  ld.param.u32 %%r1, [big_param_0+%u];\n"
                              "  st.global.u32 [%%rd2+%u], %%r1;\n",
                              i * 4, i * 4);
    snprintf(text + n, room - n, "  ret;\n}\n");
    return text;
}

static void four_kibibytes_of_parameters_arrive(void)
{
    enum { WORDS = (4096 - 8) / 4 };
    struct server *server = server_start(NULL);
    uint32_t in[WORDS], out[WORDS];
    char *text = big_kernel(WORDS);
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load(session, text, 0, &module));
    CHECK_OK(gs_kernel_get(module, "big", &kernel));
    CHECK_OK(gs_malloc(session, sizeof(out), &memory));
    /* Often enough that records wrap around the ring's end. */
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            in[i] = (uint32_t)test_random();
        CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){in, &memory}));
        CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
        CHECK_MEMORY(out, in, sizeof(in));
    }
    free(text);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void more_than_ptxas_takes_are_refused(void)
{
    struct server *server = server_start(NULL);
    char *text = big_kernel(1100); /* 4,400 bytes, of a version that has 4,352 */
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(gs_module_load(session, text, 0, &module), GS_ERR_BAD_IMAGE);
    CHECK(gs_last_error_message()[0] != '\0');
    kernels_load(session);
    free(text);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_kernel_asked_for_twice_is_one_kernel(void)
{
    struct server *server = server_start(NULL);
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK(kernels_get(module, "add") == kernels_get(module, "add"));
    CHECK(kernels_get(module, "add") != kernels_get(module, "fill"));
    CHECK(kernels_get(kernels_load(session), "add") != kernels_get(module, "add"));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void variables_of_a_module_are_found_and_used(void)
{
    struct server *server = server_start(NULL);
    uint32_t table[64], out[64], n = 64, bias;
    gs_session session;
    gs_module module, second;
    gs_devptr table_at, bias_at, other_at, memory;
    size_t size;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    second = kernels_load(session);
    CHECK_OK(gs_malloc(session, sizeof(out), &memory));
    CHECK_OK(gs_global_get(module, "table", &table_at, &size));
    CHECK_EQUAL(size, sizeof(table));
    CHECK_OK(gs_global_get(module, "bias", &bias_at, &size));
    CHECK_EQUAL(size, sizeof(bias));
    CHECK_OK(gs_global_get(module, "table", NULL, NULL));
    CHECK_OK(gs_global_get(second, "table", &other_at, NULL));
    CHECK(other_at != table_at);
    CHECK_OK(gs_memcpy_dtoh(session, table, table_at, sizeof(table)));
    CHECK_OK(gs_memcpy_dtoh(session, &bias, bias_at, sizeof(bias)));
    CHECK_EQUAL(bias, 1000);
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_EQUAL(table[i], i * i);
        table[i] = 5 * i;
    }
    CHECK_OK(gs_memcpy_htod(session, table_at, table, sizeof(table)));
    CHECK_OK(
        kernels_launch(NULL, kernels_get(module, "table_lookup"), 1, 64, (void *[]){&memory, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQUAL(out[i], 5 * i + 1000);
    /* The other module has variables of its own. */
    CHECK_OK(
        kernels_launch(NULL, kernels_get(second, "table_lookup"), 1, 64, (void *[]){&memory, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQUAL(out[i], i * i + 1000);
    CHECK_STATUS(gs_memcpy_dtoh(session, table, table_at + 4, sizeof(table)),
                 GS_ERR_INVALID_POINTER);
    /* With the module its variables go. */
    CHECK_OK(gs_module_unload(module));
    CHECK_STATUS(gs_memcpy_dtoh(session, table, table_at, sizeof(table)), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        test_pause();
}

static size_t free_bytes_of(gs_session session)
{
    size_t free_bytes, total;

    CHECK_OK(gs_mem_info(session, &free_bytes, &total));
    return free_bytes;
}

/* gs_module_unload returns while the work waits, which ends only when the test lets it. */
static void work_given_before_uses_an_unloaded_module_to_its_end(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    uint32_t out[64] = {0}, n = 64;
    _Atomic bool go = false;
    gs_session session;
    gs_module module, second;
    gs_stream stream;
    gs_kernel kernel;
    gs_devptr memory, table;
    size_t before;

    params.mem_limit = 64 << 20; /* of the session, so that nobody else changes what is free */
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_malloc(session, sizeof(out), &memory));
    gs_module_unload(kernels_load(session)); /* what the session's first module makes stays */
    before = free_bytes_of(session);
    for (unsigned i = 0; i < 4; i++) {
        module = kernels_load(session);
        kernel = kernels_get(module, "table_lookup");
        CHECK_OK(gs_global_get(module, "table", &table, NULL));
        atomic_store(&go, false);
        CHECK_OK(gs_launch_host(session, stream, stream_hold, &go));
        CHECK_OK(kernels_launch(stream, kernel, 1, 64, (void *[]){&memory, &n}));
        CHECK_OK(gs_module_unload(module));
        CHECK_STATUS(gs_module_unload(module), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(kernels_launch(stream, kernel, 1, 64, (void *[]){&memory, &n}),
                     GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_memset_async(session, table, 1, 1, NULL), GS_ERR_INVALID_POINTER);
        /* Another module does not take its place. */
        second = kernels_load(session);
        CHECK_OK(gs_module_unload(second));
        CHECK_STATUS(gs_stream_query(session, stream), GS_NOT_READY);
        atomic_store(&go, true);
        CHECK_OK(gs_stream_sync(session, stream));
        CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
        for (uint32_t j = 0; j < 64; j++)
            CHECK_EQUAL(out[j], j * j + 1000);
        CHECK_OK(gs_memset(session, memory, 0, sizeof(out)));
        /* The stream tells its end just before the device has done with it. */
        while (free_bytes_of(session) != before)
            CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void shared_memory_static_and_dynamic(void)
{
    enum { WORDS = 2000, N = 5000 };
    struct server *server = server_start(NULL);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 256);
    uint32_t out[WORDS], words = WORDS, in[N], n = N;
    uint64_t sum, wanted = 0;
    gs_session session;
    gs_module module;
    gs_devptr memory, numbers, total;

    CHECK_OK(server_attach(server, &session));
    module = kernels_load(session);
    CHECK_OK(gs_malloc(session, sizeof(out), &memory));
    CHECK_OK(gs_malloc(session, sizeof(in), &numbers));
    CHECK_OK(gs_malloc(session, sizeof(sum), &total));
    config.dynamic_smem = WORDS * 4;
    CHECK_OK(gs_launch(NULL, kernels_get(module, "dynamic_shared"), &config,
                       (void *[]){&memory, &words}));
    CHECK_OK(gs_memcpy_dtoh(session, out, memory, sizeof(out)));
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK_EQUAL(out[i], WORDS - 1 - i);
    for (uint32_t i = 0; i < N; i++)
        wanted += in[i] = (uint32_t)test_random();
    CHECK_OK(gs_memcpy_htod(session, numbers, in, sizeof(in)));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "sum"), (N + 255) / 256, 256,
                            (void *[]){&numbers, &total, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, &sum, total, sizeof(sum)));
    CHECK_EQUAL(sum, wanted);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void grids_of_three_dimensions_run_every_thread(void)
{
    struct server *server = server_start(NULL);
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    uint32_t counted;
    gs_session session;
    gs_devptr counter;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(counted), &counter));
    config.grid = (gs_dim3){3, 5, 2};
    config.block = (gs_dim3){7, 4, 3};
    CHECK_OK(gs_launch(NULL, kernels_get(kernels_load(session), "count"), &config,
                       (void *[]){&counter}));
    CHECK_OK(gs_memcpy_dtoh(session, &counted, counter, sizeof(counted)));
    CHECK_EQUAL(counted, 3 * 5 * 2 * 7 * 4 * 3);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* The fatbins hold machine code for sm_90 beside PTX: where the former runs, it is loaded without
 * compiling. */
static void fatbins_with_machine_code_and_ptx_load(void)
{
    enum { N = 100 };
    static const char *const names[] = {"tiny_code_none.fatbin", "tiny_code_size.fatbin"};
    struct server *server = server_start(NULL);
    float in[N], out[N];
    gs_session session;
    gs_devptr din, dout;
    gs_module module;
    int n = N;

    for (unsigned i = 0; i < N; i++)
        in[i] = (float)(1 << i % 16);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(in), &din));
    CHECK_OK(gs_malloc(session, sizeof(out), &dout));
    CHECK_OK(gs_memcpy_htod(session, din, in, sizeof(in)));
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        const char *source = getenv("GSHARE_SOURCE_DIR");
        char path[512];

        snprintf(path, sizeof(path), "%s/test/ptx/%s", source ? source : ".", names[i]);
        CHECK_OK(gs_memset(session, dout, 0, sizeof(out)));
        CHECK_OK(gs_module_load_file(session, path, &module));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "first"), 1, 128,
                                (void *[]){&dout, &din, &n}));
        CHECK_OK(gs_memcpy_dtoh(session, out, dout, sizeof(out)));
        for (unsigned k = 0; k < N; k++)
            CHECK(out[k] == in[k] * 2.f + 1.f / in[k]);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A tenant whose stream is never empty. */
struct saturating {
    struct gate ready;
    _Atomic uint32_t stop;
    uint64_t nanoseconds; /* of a kernel */
};

static void saturate(void *argument)
{
    struct saturating *saturating = argument;
    uint64_t nanoseconds = saturating->nanoseconds;
    gs_session session;
    gs_kernel spin;

    CHECK_OK(gs_attach(NULL, &session));
    spin = kernels_get(kernels_load(session), "spin");
    for (int i = 0; i < 4; i++)
        CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&nanoseconds}));
    gate_pass(&saturating->ready);
    /* The ring's room is what holds it up: there is always more to come. */
    while (!saturating->stop)
        CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&nanoseconds}));
    _exit(0); /* without waiting for what the ring holds: the server ends it */
}

static void a_module_loads_beside_a_tenant_that_never_pauses(void)
{
    struct server *server = server_start(NULL);
    struct saturating *saturating = shared_alloc(sizeof(*saturating));
    gs_session session;

    saturating->nanoseconds = 50000000;
    pid_t pid = tenant_start(saturate, saturating);

    gate_wait(&saturating->ready, 1);
    CHECK_OK(server_attach(server, &session));
    for (int i = 0; i < 3; i++)
        kernels_load(session);
    CHECK_OK(gs_detach(session));
    saturating->stop = 1;
    tenant_kill(pid, SIGKILL);
    server_stop(server);
}

/* Its kernels outlast what all others' work is held back for. */
static void a_module_loads_beside_kernels_of_a_second(void)
{
    struct server *server = server_start(NULL);
    struct saturating *saturating = shared_alloc(sizeof(*saturating));
    gs_session session, other;
    gs_kernel spin;

    saturating->nanoseconds = 1000000000;
    pid_t pid = tenant_start(saturate, saturating);
    gate_wait(&saturating->ready, 1);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &other));
    spin = kernels_get(kernels_load(other), "spin");
    for (int i = 0; i < 3; i++) {
        const uint64_t began = clock_ns();
        kernels_load(session);
        printf("# loaded in %.2f s\n", (double)(clock_ns() - began) / 1e9);
        CHECK(clock_ns() - began < 8000000000u);
        CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&(uint64_t){1000000}}));
        CHECK_OK(gs_sync(other));
    }
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(session));
    saturating->stop = 1;
    tenant_kill(pid, SIGKILL);
    server_stop(server);
}

static void load_one(void *argument)
{
    struct saturating *loading = argument;
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    gate_pass(&loading->ready);
    kernels_load(session);
    CHECK_OK(gs_detach(session));
}

/* Only the kernel's own stream is held back for the load: the session's other one goes on, on which
 * the kernel waits. */
static void a_module_loads_beside_a_kernel_that_waits_for_another_stream(void)
{
    struct server *server = server_start(NULL);
    struct saturating *loading = shared_alloc(sizeof(*loading));
    gs_session session;
    gs_devptr flag, other;
    gs_kernel wait;
    gs_stream spare;

    CHECK_OK(server_attach(server, &session));
    wait = kernels_get(kernels_load(session), "spin_until");
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &flag));
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &other));
    CHECK_OK(gs_memset(session, flag, 0, sizeof(uint32_t)));
    CHECK_OK(gs_stream_create(session, NULL, &spare));
    CHECK_OK(kernels_launch(NULL, wait, 1, 1, (void *[]){&flag}));
    pid_t pid = tenant_start(load_one, loading);
    gate_wait(&loading->ready, 1);
    /* The loads of the server hold work back for longer and longer, and after a second that of the
     * kernel's stream. */
    for (const uint64_t began = clock_ns(); clock_ns() - began < 3000000000u;) {
        CHECK_OK(gs_memset_async(session, other, 1, sizeof(uint32_t), spare));
        CHECK_OK(gs_stream_sync(session, spare));
    }
    CHECK_OK(gs_memset_async(session, flag, 1, sizeof(uint32_t), spare));
    const uint64_t began = clock_ns();
    CHECK_OK(gs_sync(session));
    CHECK(clock_ns() - began < 2000000000u);
    tenant_join(pid);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const char empty_ptx[] = PTX_HEAD ".visible .entry nothing() { ret; }\n";

/* A kernel that never ends keeps other programs' modules from loading. They are told whose it is,
 * and the command that ends it. */
static void who_cannot_load_a_module_is_told_what_ends_the_kernel(void)
{
    struct server *server = server_start(NULL);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    char command[64], id[24];
    gs_session endless, session;
    gs_module module;
    gs_devptr flag;

    CHECK_OK(server_attach(server, &endless));
    CHECK_OK(gs_malloc(endless, sizeof(uint32_t), &flag));
    CHECK_OK(gs_memset(endless, flag, 0, sizeof(uint32_t)));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(endless), "spin_until"), 1, 1,
                            (void *[]){&flag}));
    CHECK_OK(gs_session_info(endless, &desc));
    snprintf(id, sizeof(id), "%llu", (unsigned long long)desc.session_id);
    snprintf(command, sizeof(command), "(gsctl kill %s ends it)", id);
    CHECK_OK(server_attach(server, &session));
    CHECK_STATUS(gs_module_load(session, empty_ptx, sizeof(empty_ptx) - 1, &module),
                 GS_ERR_TIMEOUT);
    CHECK_TEXT(gs_last_error_message(), "no moment came without running kernels: session ");
    CHECK_TEXT(gs_last_error_message(), command);
    GSCTL_OK("kill", id, "--grace", "100");
    CHECK_STATUS(gs_sync(endless), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_module_load(session, empty_ptx, sizeof(empty_ptx) - 1, &module));
    CHECK_OK(gs_detach(session));
    gs_detach(endless);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_module_loads_from_text_from_bytes_and_from_a_file),
    TEST(a_module_tells_its_kernels),
    TEST(a_kernel_that_the_software_device_lacks_leaves_the_others),
    TEST(modules_that_need_each_other_are_linked),
    TEST(kernels_compute_what_they_should),
    TEST(parameters_of_every_size_arrive),
    TEST(four_kibibytes_of_parameters_arrive),
    TEST(more_than_ptxas_takes_are_refused),
    TEST(a_kernel_asked_for_twice_is_one_kernel),
    TEST(variables_of_a_module_are_found_and_used),
    TEST(work_given_before_uses_an_unloaded_module_to_its_end),
    TEST(shared_memory_static_and_dynamic),
    TEST(grids_of_three_dimensions_run_every_thread),
    TEST(fatbins_with_machine_code_and_ptx_load),
    TEST_WITHIN(a_module_loads_beside_a_tenant_that_never_pauses, 120),
    TEST(a_module_loads_beside_kernels_of_a_second),
    TEST(a_module_loads_beside_a_kernel_that_waits_for_another_stream),
    TEST(who_cannot_load_a_module_is_told_what_ends_the_kernel),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
