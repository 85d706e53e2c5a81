/*
 * test_bad_input.c - every mistake that a program can make gets its status and a message that names
 * the value and its limit; the session works on, and a tenant beside it notices nothing.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bystander.h"
#include "common/names.h"
#include "common/wire.h"
#include "harness/harness.h"

#define N 256u

/* A session with work to do, and a bystander. */
struct scene {
    struct server *server;
    struct bystanders *others;
    gs_session session;
    gs_session_desc desc;
    gs_module module;
    gs_devptr data; /* N words */
};

static void scene_set(struct scene *scene)
{
    scene->server = server_start(&server_unfenced);
    scene->others = bystanders_start(1);
    scene->desc = (gs_session_desc)GS_SESSION_DESC_INIT;
    CHECK_OK(server_attach(scene->server, &scene->session));
    CHECK_OK(gs_session_info(scene->session, &scene->desc));
    scene->module = kernels_load(scene->session);
    CHECK_OK(gs_malloc(scene->session, N * 4, &scene->data));
}

static void session_check(const struct scene *s)
{
    uint32_t out[N], value = (uint32_t)test_random(), n = N;
    gs_devptr data = s->data;

    CHECK_OK(kernels_launch(NULL, kernels_get(s->module, "fill"), N / 64, 64,
                            (void *[]){&data, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh(s->session, out, data, sizeof(out)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(out[i], value + i);
}

static void scene_end(struct scene *scene)
{
    session_check(scene);
    CHECK_OK(gs_detach(scene->session));
    bystanders_stop(scene->others);
    server_stop(scene->server);
}

/* Whether the last message has the number, in decimal or hexadecimal. */
static void message_names(uint64_t number)
{
    char decimal[32], hex[32];
    const char *message = gs_last_error_message();

    snprintf(decimal, sizeof(decimal), "%llu", (unsigned long long)number);
    snprintf(hex, sizeof(hex), "%llx", (unsigned long long)number);
    if (strstr(message, decimal) == NULL && strstr(message, hex) == NULL)
        test_fail(__FILE__, __LINE__, "\"%s\" names neither %s nor 0x%s", message, decimal, hex);
}

/* ---- Attaching ---- */

static void without_a_server_attaching_fails_at_once(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session = (gs_session)0x55;
    uint64_t start = clock_ns();

    params.instance = "test-nobody-serves-this";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_SERVER);
    CHECK(clock_ns() - start < 1000000000u);
    CHECK_TEXT(gs_last_error_message(), "test-nobody-serves-this");
    CHECK_TEXT(gs_last_error_message(), "gshared"); /* how to start one */
    CHECK(session == (gs_session)0x55);
}

static void bad_attach_parameters_are_named(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_qos qos = GS_QOS_INIT;

    CHECK_STATUS(gs_attach(NULL, NULL), GS_ERR_INVALID_VALUE);
    params.device = 7;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_DEVICE);
    message_names(7);
    params.device = -2;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "-2");
    params = (gs_attach_params)GS_ATTACH_PARAMS_INIT;
    params.instance = "a/slash";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "a/slash");
    params.instance = "a-name-that-is-longer-than-an-instance-may-be";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    params.instance = "";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    params = (gs_attach_params)GS_ATTACH_PARAMS_INIT;
    params.on_fault = (gs_on_fault)9;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    message_names(9);
    params = (gs_attach_params)GS_ATTACH_PARAMS_INIT;
    qos.affinity.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE;
    qos.affinity.percentage = 101;
    params.qos = &qos;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "1 to 100");
    params.qos = NULL;
    params.reservation = "a-reservation-of-a-name-that-is-too-long";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "31");
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

/* A server of another version, as far as a client sees one: it answers every request with a header
 * of that version. */
static void other_version_serve(mqd_t queue, const char *instance)
{
    struct timespec until;
    char message[CTL_MESSAGE_MAX], name[WIRE_NAME_MAX];
    struct ctl_header h;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    for (;;) {
        struct ctl_attach_reply reply = {.status = GS_ERR_VERSION, .message = "another version"};
        mqd_t to;
        ssize_t n = mq_timedreceive(queue, message, sizeof(message), NULL, &until);

        CHECK(n >= (ssize_t)sizeof(h));
        memcpy(&h, message, sizeof(h));
        if (h.op != CTL_ATTACH)
            continue;
        reply.h = (struct ctl_header){.magic = WIRE_MAGIC,
                                      .version = WIRE_VERSION + 1,
                                      .op = CTL_ATTACH,
                                      .size = sizeof(reply),
                                      .token = h.token};
        name_reply(name, geteuid(), instance, h.token);
        to = mq_open(name, O_WRONLY | O_CLOEXEC);
        CHECK(to >= 0);
        CHECK(mq_send(to, (const char *)&reply, sizeof(reply), 0) == 0);
        mq_close(to);
        return;
    }
}

struct other_version {
    char instance[32];
    struct gate ready;
};

static void other_version_run(void *argument)
{
    struct other_version *other = argument;
    struct mq_attr attr = {.mq_maxmsg = 10, .mq_msgsize = CTL_MESSAGE_MAX};
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    char name[WIRE_NAME_MAX];
    mqd_t queue;

    name_control(name, geteuid(), other->instance);
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
    CHECK(queue >= 0);
    CHECK(fcntl(queue, F_OFD_SETLK, &lock) == 0);
    gate_pass(&other->ready);
    other_version_serve(queue, other->instance);
    mq_unlink(name);
}

static void a_server_of_another_version_is_told_apart(void)
{
    struct other_version *other = shared_alloc(sizeof(*other));
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    pid_t pid;

    snprintf(other->instance, sizeof(other->instance), "test-version-%d", (int)getpid());
    pid = tenant_start(other_version_run, other);
    gate_wait(&other->ready, 1);
    params.instance = other->instance;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_VERSION);
    message_names(WIRE_VERSION + 1);
    message_names(WIRE_VERSION);
    tenant_join(pid);
}

/* ---- Modules and kernels ---- */

static void bad_images_get_the_log_of_who_read_them(void)
{
    static const char wrong[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                ".visible .entry k()\n{\n  fly.me.to.the.moon %r1;\n}\n";
    struct scene s;
    gs_module module = (gs_module)0x99;
    unsigned char junk[5000];
    unsigned char elf[256] = {0x7F, 'E', 'L', 'F', 2, 1, 1};

    scene_set(&s);
    CHECK_STATUS(gs_module_load(s.session, wrong, 0, &module), GS_ERR_BAD_IMAGE);
    CHECK_TEXT(gs_last_error_message(), "6"); /* the line */
    CHECK_STATUS(gs_module_load(s.session, "", 0, &module), GS_ERR_BAD_IMAGE);
    CHECK_STATUS(gs_module_load(s.session, "no ptx at all", 0, &module), GS_ERR_BAD_IMAGE);
    CHECK_STATUS(gs_module_load(s.session, kernels_ptx, strlen(kernels_ptx) / 2, &module),
                 GS_ERR_BAD_IMAGE);
    CHECK_STATUS(gs_module_load(s.session, elf, sizeof(elf), &module), GS_ERR_BAD_IMAGE);
    CHECK_STATUS(gs_module_load(s.session, elf, 0, &module), GS_ERR_INVALID_VALUE);
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned k = 0; k < sizeof(junk); k++)
            junk[k] = (unsigned char)test_random();
        if (i % 2)
            memcpy(junk, elf, 8);
        CHECK_STATUS(gs_module_load(s.session, junk, sizeof(junk), &module), GS_ERR_BAD_IMAGE);
    }
    CHECK_STATUS(gs_module_load(s.session, NULL, 0, &module), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_load(s.session, kernels_ptx, 0, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_module_load_file(s.session, "/nonexistent/kernels.ptx", &module),
                 GS_ERR_NOT_FOUND);
    CHECK_TEXT(gs_last_error_message(), "/nonexistent/kernels.ptx");
    CHECK_STATUS(gs_module_load_file(s.session, "/", &module), GS_ERR_SYSTEM);
    CHECK(module == (gs_module)0x99);
    scene_end(&s);
}

static void names_that_a_module_lacks_are_named(void)
{
    struct scene s;
    gs_kernel kernel;
    gs_devptr at;
    size_t size;
    char *name = malloc(100000);

    scene_set(&s);
    CHECK_STATUS(gs_kernel_get(s.module, "missing", &kernel), GS_ERR_NOT_FOUND);
    CHECK_TEXT(gs_last_error_message(), "no kernel 'missing' in the module; it has '");
    CHECK_STATUS(gs_kernel_get(s.module, "_Z4fillPjjj", &kernel), GS_ERR_NOT_FOUND);
    CHECK_TEXT(gs_last_error_message(), "; it has 'fill', '");
    CHECK(strstr(gs_last_error_message(), "gshare") == NULL);
    CHECK_STATUS(gs_global_get(s.module, "missing_too", &at, &size), GS_ERR_NOT_FOUND);
    CHECK_TEXT(gs_last_error_message(), "missing_too");
    CHECK_STATUS(gs_kernel_get(s.module, "", &kernel), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_kernel_get(s.module, NULL, &kernel), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_kernel_get(s.module, "fill", NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_kernel_get(s.module, "table", &kernel), GS_ERR_NOT_FOUND);
    CHECK_STATUS(gs_global_get(s.module, "fill", &at, &size), GS_ERR_NOT_FOUND);
    memset(name, 'x', 100000);
    name[99999] = '\0';
    CHECK_STATUS(gs_kernel_get(s.module, name, &kernel), GS_ERR_INVALID_VALUE);
    free(name);
    scene_end(&s);
}

static void wrong_parameters_are_told(void)
{
    static const size_t right[] = {8, 4, 4}, wrong[] = {8, 8, 4};
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    uint32_t value = 1, n = 1;
    struct scene s;
    gs_kernel fill;

    scene_set(&s);
    fill = kernels_get(s.module, "fill");
    config.arg_count = 4;
    CHECK_STATUS(gs_launch(NULL, fill, &config, (void *[]){&s.data, &value, &n, &n}),
                 GS_ERR_PARAMS);
    message_names(4);
    message_names(3);
    config.arg_count = 2;
    CHECK_STATUS(gs_launch(NULL, fill, &config, (void *[]){&s.data, &value}), GS_ERR_PARAMS);
    config.arg_count = 3;
    config.arg_sizes = wrong;
    CHECK_STATUS(gs_launch(NULL, fill, &config, (void *[]){&s.data, &value, &n}), GS_ERR_PARAMS);
    CHECK_TEXT(gs_last_error_message(), "argument 1 is 8 bytes");
    config.arg_count = 0;
    CHECK_STATUS(gs_launch(NULL, fill, &config, (void *[]){&s.data, &value, &n}), GS_ERR_PARAMS);
    config.arg_count = 3;
    config.arg_sizes = right;
    CHECK_OK(gs_launch(NULL, fill, &config, (void *[]){&s.data, &value, &n}));
    config.arg_count = 0;
    config.arg_sizes = NULL;
    CHECK_STATUS(gs_launch(NULL, fill, &config, NULL), GS_ERR_PARAMS);
    CHECK_STATUS(gs_launch(NULL, fill, &config, (void *[]){&s.data, NULL, &n}), GS_ERR_PARAMS);
    message_names(1);
    scene_end(&s);
}

static gs_status launch_sized(gs_kernel kernel, gs_dim3 grid, gs_dim3 block, unsigned smem)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    config.grid = grid;
    config.block = block;
    config.dynamic_smem = smem;
    return gs_launch(NULL, kernel, &config, NULL);
}

static void launches_over_the_devices_limits_are_refused(void)
{
    struct scene s;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_kernel_desc desc = GS_KERNEL_DESC_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_kernel nothing;

    scene_set(&s);
    nothing = kernels_get(s.module, "nothing");
    CHECK_OK(gs_kernel_info(nothing, &desc));
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1025, 1, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    message_names(1025);
    message_names(1024);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1024, 2, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    message_names(2048);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1, 1, 65}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    message_names(65);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){65536, 65536, 64}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){0, 1, 1}, (gs_dim3){1, 1, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1, 0, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 65536, 1}, (gs_dim3){1, 1, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    message_names(65536);
    message_names(65535);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){0xFFFFFFFF, 1, 1}, (gs_dim3){1, 1, 1}, 0),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(
        launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1, 1, 1}, desc.max_dynamic_smem + 1),
        GS_ERR_LAUNCH_CONFIG);
    message_names(desc.max_dynamic_smem);
    CHECK_STATUS(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1, 1, 1}, 0xFFFFFFFF),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_OK(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1, 1, 1}, desc.max_dynamic_smem));
    CHECK_OK(launch_sized(nothing, (gs_dim3){1, 1, 1}, (gs_dim3){1024, 1, 1}, 0));

    CHECK_STATUS(gs_launch(NULL, nothing, NULL, NULL), GS_ERR_INVALID_VALUE);
    config.size = 4;
    CHECK_STATUS(gs_launch(NULL, nothing, &config, NULL), GS_ERR_INVALID_VALUE);
    config.size = sizeof(config);
    qos.priority = -3;
    config.qos = &qos;
    CHECK_STATUS(gs_launch(NULL, nothing, &config, NULL), GS_ERR_INVALID_VALUE);
    message_names(3);
    qos.priority = 0;
    CHECK_OK(gs_launch(NULL, nothing, &config, NULL));
    scene_end(&s);
}

/* ---- Memory ---- */

static void pointers_outside_the_sessions_memory_are_refused(void)
{
    struct scene s;
    unsigned char bytes[N * 4 + 1];
    gs_devptr freed, foreign;
    gs_session other;
    void *block;

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, 1000, &freed));
    CHECK_OK(gs_free(s.session, freed));
    CHECK_OK(server_attach(s.server, &other));
    CHECK_OK(gs_malloc(other, N * 4, &foreign));

    CHECK_STATUS(gs_memcpy_htod(s.session, freed, bytes, 16), GS_ERR_INVALID_POINTER);
    message_names(freed);
    CHECK_STATUS(gs_memcpy_htod(s.session, foreign, bytes, 16), GS_ERR_INVALID_POINTER);
    message_names(foreign);
    CHECK_STATUS(gs_memcpy_dtoh(s.session, bytes, foreign, 16), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_dtod(s.session, s.data, foreign, 16), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_dtod(s.session, foreign, s.data, 16), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, foreign, 1, 1), GS_ERR_INVALID_POINTER);
    /* Over the end, and over the end by wrapping. */
    CHECK_STATUS(gs_memcpy_htod(s.session, s.data, bytes, N * 4 + 1), GS_ERR_INVALID_POINTER);
    message_names(N * 4 + 1);
    message_names(N * 4);
    CHECK_STATUS(gs_memcpy_dtoh(s.session, bytes, s.data + N * 4 - 1, 2), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.data + N * 4, 0, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.data - 1, 0, 2), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.data, 0, SIZE_MAX), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.data, 0, (size_t)(0 - s.data)), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.data, 0, (size_t)(0 - s.data) + 4), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_dtod(s.session, s.data, UINT64_MAX - 7, 16), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, 0, 0, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memset(s.session, s.desc.window_base + s.desc.window_size - 1, 0, 1),
                 GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_htod(s.session, s.data, NULL, 4), GS_ERR_INVALID_VALUE);
    /* Host blocks have ends too. */
    CHECK_OK(gs_host_alloc(s.session, 4096, &block));
    CHECK_STATUS(gs_memcpy_htod(s.session, s.data, (char *)block + 4090, 16),
                 GS_ERR_INVALID_POINTER);

    CHECK_STATUS(gs_free(s.session, freed), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_free(s.session, foreign), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_free(s.session, s.data + 4), GS_ERR_INVALID_POINTER);
    message_names(s.data + 4);
    CHECK_STATUS(gs_host_free(s.session, bytes), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_free(s.session, (char *)block + 64), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_host_free(s.session, block));
    CHECK_STATUS(gs_host_free(s.session, block), GS_ERR_INVALID_POINTER);

    CHECK_OK(gs_memset(other, foreign, 1, N * 4));
    CHECK_OK(gs_detach(other));
    scene_end(&s);
}

static void sizes_that_overflow_are_refused(void)
{
    static const size_t sizes[] = {SIZE_MAX,           SIZE_MAX - 1,     SIZE_MAX - 255,
                                   SIZE_MAX - 4095,    SIZE_MAX / 2 + 1, (size_t)1 << 47,
                                   SIZE_MAX - 0x1FFFFF};
    struct scene s;
    gs_devptr at = 0x5555;
    void *block = &s;

    scene_set(&s);
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        gs_status status = gs_malloc(s.session, sizes[i], &at);
        CHECK(status == GS_ERR_QUOTA || status == GS_ERR_NO_DEVICE_MEMORY ||
              status == GS_ERR_INVALID_VALUE);
        message_names(sizes[i]);
        status = gs_host_alloc(s.session, sizes[i], &block);
        CHECK(status == GS_ERR_NO_MEMORY || status == GS_ERR_INVALID_VALUE ||
              status == GS_ERR_LIMIT || status == GS_ERR_QUOTA);
        CHECK(gs_last_error_message()[0] != '\0');
    }
    CHECK_STATUS(gs_malloc(s.session, 0, &at), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_host_alloc(s.session, 0, &block), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_malloc(s.session, 16, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_host_alloc(s.session, 16, NULL), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(at, 0x5555);
    CHECK(block == &s);
    scene_end(&s);
}

/* ---- Handles ---- */

static void handles_of_destroyed_objects_name_nothing(void)
{
    struct scene s;
    uint32_t value = 0, n = N;
    gs_kernel fill;
    gs_stream stream;
    gs_event event;
    gs_module module;
    gs_graph graph;
    float ms;

    scene_set(&s);
    CHECK_OK(gs_stream_create(s.session, NULL, &stream));
    CHECK_OK(gs_event_create(s.session, &event));
    module = kernels_load(s.session);
    fill = kernels_get(module, "fill");
    CHECK_OK(gs_graph_begin(s.session, stream));
    CHECK_OK(gs_graph_end(s.session, stream, &graph));

    CHECK_OK(gs_stream_destroy(stream));
    CHECK_OK(gs_event_destroy(event));
    CHECK_OK(gs_module_unload(module));
    CHECK_OK(gs_graph_destroy(graph));
    /* The objects' places are taken again: the old handles must not name the new ones. */
    gs_stream new_stream;
    gs_event new_event;
    CHECK_OK(gs_stream_create(s.session, NULL, &new_stream));
    CHECK_OK(gs_event_create(s.session, &new_event));
    kernels_get(kernels_load(s.session), "fill");

    CHECK_STATUS(gs_stream_destroy(stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_stream_sync(s.session, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_memset_async(s.session, s.data, 0, 4, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_record(event, NULL), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_record(new_event, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_elapsed(event, new_event, &ms), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_stream_wait_event(new_stream, event), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_module_unload(module), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_kernel_get(module, "fill", &fill), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(kernels_launch(NULL, fill, 1, 1, (void *[]){&s.data, &value, &n}),
                 GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_kernel_param_info(fill, 0, NULL, NULL), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_graph_launch(graph, NULL), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_graph_destroy(graph), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

static void values_that_never_were_handles_name_nothing(void)
{
    struct scene s;

    scene_set(&s);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t bits = test_random();
        void *junk;

        /* Near to real handles as well as far from them. */
        if (i % 3 == 1)
            bits = (uint64_t)(uintptr_t)s.session ^ (UINT64_C(1) << (bits % 64));
        else if (i % 3 == 2)
            bits = (uint64_t)(uintptr_t)s.module ^ (UINT64_C(1) << (bits % 64));
        junk = (void *)(uintptr_t)bits;
        CHECK(gs_stream_sync((gs_session)junk, NULL) == GS_ERR_INVALID_HANDLE);
        CHECK(gs_module_unload((gs_module)junk) == GS_ERR_INVALID_HANDLE);
        CHECK(gs_event_destroy((gs_event)junk) == GS_ERR_INVALID_HANDLE);
        CHECK(gs_graph_destroy((gs_graph)junk) == GS_ERR_INVALID_HANDLE);
        CHECK(gs_detach((gs_session)junk) == GS_ERR_INVALID_HANDLE);
        if (junk != NULL)
            CHECK(gs_stream_query(s.session, (gs_stream)junk) == GS_ERR_INVALID_HANDLE);
    }
    CHECK_STATUS(gs_detach(NULL), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_sync(NULL), GS_ERR_INVALID_HANDLE);
    /* A handle of one kind is no handle of another. */
    CHECK_STATUS(gs_sync((gs_session)(void *)s.module), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_module_unload((gs_module)(void *)s.session), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

static void handles_of_another_session_name_nothing(void)
{
    struct scene s;
    uint32_t value = 0, n = N;
    gs_session other;
    gs_stream stream;
    gs_event event, own_event;
    float ms;

    scene_set(&s);
    CHECK_OK(server_attach(s.server, &other));
    CHECK_OK(gs_stream_create(other, NULL, &stream));
    CHECK_OK(gs_event_create(other, &event));
    CHECK_OK(gs_event_create(s.session, &own_event));
    CHECK_STATUS(kernels_launch(stream, kernels_get(s.module, "fill"), 1, 1,
                                (void *[]){&s.data, &value, &n}),
                 GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_memset_async(s.session, s.data, 0, 4, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_stream_sync(s.session, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_stream_wait_event(stream, own_event), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_record(own_event, stream), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_elapsed(own_event, event, &ms), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_stream_sync(other, stream));
    CHECK_OK(gs_detach(other));
    scene_end(&s);
}

static void handles_of_a_detached_session_name_nothing(void)
{
    struct scene s;
    uint32_t value = 0, n = N;
    gs_session ended, again;
    gs_module module;
    gs_kernel fill;
    gs_stream stream;
    gs_event event;
    gs_devptr memory;
    gs_qos qos = GS_QOS_INIT;
    gs_fault fault = GS_FAULT_INIT;
    void *block;

    scene_set(&s);
    CHECK_OK(server_attach(s.server, &ended));
    CHECK_OK(gs_stream_create(ended, NULL, &stream));
    CHECK_OK(gs_event_create(ended, &event));
    CHECK_OK(gs_malloc(ended, 64, &memory));
    module = kernels_load(ended);
    fill = kernels_get(module, "fill");
    CHECK_OK(gs_detach(ended));
    /* A new session in its place must not answer to the old handles. */
    CHECK_OK(server_attach(s.server, &again));
    for (unsigned round = 0; round < 2; round++) {
        CHECK_STATUS(gs_detach(ended), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_sync(ended), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_session_info(ended, &s.desc), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_get_qos(ended, &qos), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_last_fault(ended, &fault), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_malloc(ended, 1, &memory), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_host_alloc(ended, 1, &block), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_memset(ended, memory, 0, 1), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_stream_destroy(stream), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_event_record(event, stream), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_kernel_get(module, "fill", &fill), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(kernels_launch(NULL, fill, 1, 1, (void *[]){&memory, &value, &n}),
                     GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_stream_sync(s.session, stream), GS_ERR_INVALID_HANDLE);
        if (round == 0)
            CHECK_OK(gs_detach(again));
    }
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(without_a_server_attaching_fails_at_once),
    TEST(bad_attach_parameters_are_named),
    TEST(a_server_of_another_version_is_told_apart),
    TEST(bad_images_get_the_log_of_who_read_them),
    TEST(names_that_a_module_lacks_are_named),
    TEST(wrong_parameters_are_told),
    TEST(launches_over_the_devices_limits_are_refused),
    TEST(pointers_outside_the_sessions_memory_are_refused),
    TEST(sizes_that_overflow_are_refused),
    TEST(handles_of_destroyed_objects_name_nothing),
    TEST(values_that_never_were_handles_name_nothing),
    TEST(handles_of_another_session_name_nothing),
    TEST(handles_of_a_detached_session_name_nothing),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
