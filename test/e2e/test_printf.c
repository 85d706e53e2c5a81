/*
 * test_printf.c - what kernels print arrives at the tenant that launched them: whole, once, and at
 * the calls that wait for the device.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "printed.h"

/* ---- Lines ----------------------------------------------------------------------------------- */

enum { BLOCKS = 2, THREADS = 40, LINES = 4, ROUNDS = 6 };
#define ALL (BLOCKS * THREADS)

static int line_text(char *to, size_t size, int tag, int round, unsigned thread, int line)
{
    return snprintf(
        to, size,
        "tag %d round %d thread %u line %d ............................................ "
        "end\n",
        tag, round, thread, line);
}

/* How often each line of `tag` is in the text, which must hold nothing but whole lines of it. */
static void lines_count(const char *text, int tag, unsigned rounds, unsigned threads,
                        unsigned lines, unsigned char *count)
{
    memset(count, 0, rounds * threads * lines);
    while (*text) {
        char wanted[160];
        int got_tag, round, line;
        unsigned thread;

        if (sscanf(text, "tag %d round %d thread %u line %d ", &got_tag, &round, &thread, &line) !=
            4)
            test_fail(__FILE__, __LINE__, "no line of a kernel: %.100s", text);
        CHECK_EQUAL(got_tag, tag);
        CHECK(round >= 0 && (unsigned)round < rounds && thread < threads && line >= 0 &&
              (unsigned)line < lines);
        int size = line_text(wanted, sizeof(wanted), tag, round, thread, line);
        if (strncmp(text, wanted, (size_t)size))
            test_fail(__FILE__, __LINE__, "a torn line: %.150s", text);
        text += size;
        count[((unsigned)round * threads + thread) * lines + (unsigned)line]++;
    }
}

static void lines_all_once(const char *text, int tag)
{
    unsigned char count[ROUNDS * ALL * LINES];

    lines_count(text, tag, ROUNDS, ALL, LINES, count);
    for (size_t i = 0; i < sizeof(count); i++) {
        if (count[i] != 1)
            test_fail(__FILE__, __LINE__, "round %zu thread %zu line %zu is there %u times",
                      i / (ALL * LINES), i / LINES % ALL, i % LINES, count[i]);
    }
}

static gs_status lines_launch(gs_stream stream, gs_kernel kernel, int tag, int round)
{
    int lines = LINES;

    return kernels_launch(stream, kernel, BLOCKS, THREADS, (void *[]){&tag, &round, &lines});
}

struct talker {
    struct gate *gate;
    int tag;
    unsigned others;
};

static void talker_run(void *argument)
{
    const struct talker *talker = argument;
    struct capture out;
    gs_session session;
    char *got;

    CHECK_OK(gs_attach(NULL, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "lines");
    capture_begin(&out, STDOUT_FILENO);
    gate_pass(talker->gate);
    gate_wait(talker->gate, talker->others);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(lines_launch(NULL, kernel, talker->tag, round));
        CHECK_OK(gs_sync(session));
    }
    got = capture_end(&out);
    lines_all_once(got, talker->tag);
    free(got);
    CHECK_OK(gs_detach(session));
}

static bool file_has(const char *path, const char *word)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    bool found = false;

    CHECK(file);
    while (!found && fgets(line, sizeof(line), file))
        found = strstr(line, word) != NULL;
    fclose(file);
    return found;
}

static void each_tenant_gets_its_own_lines_and_the_server_none(void)
{
    enum { TALKERS = 3 };
    struct server *server = server_start(NULL);
    struct gate *gate = shared_alloc(sizeof(*gate));
    struct talker talker[TALKERS];
    pid_t pid[TALKERS];

    for (int i = 0; i < TALKERS; i++) {
        talker[i] = (struct talker){gate, 1000 + i, TALKERS};
        pid[i] = tenant_start(talker_run, &talker[i]);
    }
    for (int i = 0; i < TALKERS; i++)
        tenant_join(pid[i]);
    CHECK(!file_has(server->log, "tag "));
    server_stop(server);
}

/* ---- Who calls it forth ---------------------------------------------------------------------- */

struct calls {
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_event event;
    gs_devptr memory;
};

static void call_sync(struct calls *c)
{
    CHECK_OK(gs_sync(c->session));
}

static void call_stream_sync(struct calls *c)
{
    CHECK_OK(gs_stream_sync(c->session, NULL));
}

static void call_event_sync(struct calls *c)
{
    CHECK_OK(gs_event_record(c->event, NULL));
    CHECK_OK(gs_event_sync(c->event));
}

static void call_copy(struct calls *c)
{
    int word;

    CHECK_OK(gs_memcpy_dtoh(c->session, &word, c->memory, sizeof(word)));
}

static void call_memset(struct calls *c)
{
    CHECK_OK(gs_memset(c->session, c->memory, 0, 4));
}

/* What a kernel prints outlives its module. */
static void call_unload(struct calls *c)
{
    CHECK_OK(gs_module_unload(c->module));
    CHECK_OK(gs_sync(c->session));
}

static void call_detach(struct calls *c)
{
    CHECK_OK(gs_detach(c->session));
}

static void every_call_that_waits_prints(void)
{
    static void (*const all[])(struct calls *) = {call_sync,  call_stream_sync, call_event_sync,
                                                  call_copy,  call_memset,      call_unload,
                                                  call_detach};
    struct server *server = server_start(NULL);

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        struct calls c;
        struct capture out;
        char *got;

        CHECK_OK(server_attach(server, &c.session));
        CHECK_OK(gs_event_create(c.session, &c.event));
        CHECK_OK(gs_malloc(c.session, 16, &c.memory));
        c.module = image_load(c.session, images[0]);
        c.kernel = kernels_get(c.module, "checked");
        capture_begin(&out, STDOUT_FILENO);
        CHECK_OK(kernels_launch(NULL, c.kernel, 1, 1, (void *[]){&(int){3}}));
        all[i](&c);
        got = capture_end(&out);
        printf("# call %zu\n", i);
        expect_text(got, "value 3\n");
        free(got);
        if (all[i] != call_detach)
            CHECK_OK(gs_detach(c.session));
    }
    server_stop(server);
}

struct sharer {
    pthread_t thread;
    gs_session session;
    gs_kernel kernel;
    int tag;
};

static void *sharer_run(void *argument)
{
    struct sharer *sharer = argument;
    gs_stream stream;

    CHECK_OK(gs_stream_create(sharer->session, NULL, &stream));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(lines_launch(stream, sharer->kernel, sharer->tag, round));
        CHECK_OK(gs_stream_sync(sharer->session, stream));
    }
    CHECK_OK(gs_stream_destroy(stream));
    return NULL;
}

/* Moves the lines of a tag to `own`. */
static void lines_pick(const char *text, int tag, char *own)
{
    char start[32];
    size_t length = (size_t)snprintf(start, sizeof(start), "tag %d ", tag);

    for (const char *end; *text; text = end) {
        end = strchr(text, '\n');
        CHECK(end);
        end++;
        if (!strncmp(text, start, length)) {
            memcpy(own, text, (size_t)(end - text));
            own += end - text;
        }
    }
    *own = '\0';
}

static void threads_that_wait_at_once_print_each_line_once(void)
{
    enum { SHARERS = 4 };
    struct server *server = server_start(NULL);
    struct sharer sharer[SHARERS];
    struct capture out;
    gs_session session;
    char *got, *own;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "lines");
    capture_begin(&out, STDOUT_FILENO);
    for (int i = 0; i < SHARERS; i++) {
        sharer[i] = (struct sharer){.session = session, .kernel = kernel, .tag = i};
        CHECK(!pthread_create(&sharer[i].thread, NULL, sharer_run, &sharer[i]));
    }
    for (int i = 0; i < SHARERS; i++)
        pthread_join(sharer[i].thread, NULL);
    got = capture_end(&out);
    own = malloc(strlen(got) + 1);
    CHECK(own);
    for (int i = 0; i < SHARERS; i++) {
        lines_pick(got, i, own);
        lines_all_once(own, i);
    }
    free(own);
    free(got);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_recorded_launch_prints_each_time(void)
{
    struct server *server = server_start(NULL);
    struct capture out;
    gs_session session;
    gs_graph graph;
    char *got;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "checked");
    CHECK_OK(gs_graph_begin(session, NULL));
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&(int){5}}));
    CHECK_OK(gs_graph_end(session, NULL, &graph));
    capture_begin(&out, STDOUT_FILENO);
    for (int i = 0; i < 3; i++)
        CHECK_OK(gs_graph_launch(graph, NULL));
    CHECK_OK(gs_sync(session));
    got = capture_end(&out);
    expect_text(got, "value 5\nvalue 5\nvalue 5\n");
    free(got);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void several_modules_share_what_they_print_to(void)
{
    struct server *server = server_start(&server_unfenced);
    struct capture out;
    gs_session session;
    char *got;

    CHECK_OK(server_attach(server, &session));
    capture_begin(&out, STDOUT_FILENO);
    /* The fatbin has machine code too: its PTX is taken, because it prints. */
    for (size_t i = 0; i < IMAGES + 1; i++) {
        gs_module module = image_load(session, i < IMAGES ? images[i] : "both.fatbin");
        int value = -(int)i;
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "checked"), 1, 1, (void *[]){&value}));
    }
    CHECK_OK(gs_sync(session));
    got = capture_end(&out);
    expect_text(got, "value 0\nvalue -1\nvalue -2\nvalue -3\nvalue -4\n");
    free(got);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void child_of_one_that_prints(void *argument)
{
    gs_session *session = argument;
    struct capture out;
    char *got;

    capture_begin(&out, STDOUT_FILENO);
    CHECK_STATUS(gs_sync(*session), GS_ERR_FORKED);
    CHECK_STATUS(gs_detach(*session), GS_ERR_FORKED);
    got = capture_end(&out);
    expect_text(got, "");
    free(got);
}

static void a_child_prints_nothing_of_its_parent(void)
{
    struct server *server = server_start(NULL);
    struct capture out;
    gs_session session;
    char *got;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "checked");
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&(int){1}}));
    while (gs_stream_query(session, NULL) == GS_NOT_READY)
        test_pause();
    tenant_join(tenant_start(child_of_one_that_prints, &session));
    capture_begin(&out, STDOUT_FILENO);
    CHECK_OK(gs_sync(session));
    got = capture_end(&out);
    expect_text(got, "value 1\n");
    free(got);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Too much -------------------------------------------------------------------------------- */

static unsigned lost_told(const char *text)
{
    unsigned lost, all = 0;

    while ((text = strstr(text, "libgshare[")) != NULL) {
        CHECK(sscanf(text, "libgshare[%*d] event=messages-lost messages=%u", &lost) == 1);
        all += lost;
        text++;
    }
    return all;
}

static void what_does_not_fit_is_counted_and_the_rest_is_whole(void)
{
    enum { MANY_BLOCKS = 16, MANY_THREADS = 32, MANY_LINES = 40 };
    static unsigned char count[2 * MANY_BLOCKS * MANY_THREADS * MANY_LINES];
    const unsigned all = MANY_BLOCKS * MANY_THREADS * MANY_LINES;
    struct server *server = server_start(NULL);
    struct capture out, error;
    unsigned printed = 0;
    gs_session session;
    char *got, *told;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "lines");
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&error, STDERR_FILENO);
    int tag = 7, round = 0, lines = MANY_LINES;
    void *args[] = {&tag, &round, &lines};
    CHECK_OK(kernels_launch(NULL, kernel, MANY_BLOCKS, MANY_THREADS, args));
    CHECK_OK(gs_sync(session));
    /* There is room again. */
    round = 1, lines = 2;
    CHECK_OK(kernels_launch(NULL, kernel, MANY_BLOCKS, MANY_THREADS, args));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    told = capture_end(&error);
    got = capture_end(&out);
    lines_count(got, tag, 2, MANY_BLOCKS * MANY_THREADS, MANY_LINES, count);
    for (unsigned i = 0; i < all; i++) {
        CHECK(count[i] <= 1);
        CHECK_EQUAL(count[all + i], i % MANY_LINES < 2);
        printed += count[i];
    }
    printf("# %u of %u lines printed, %s", printed, all, told);
    /* A record is less than 200 bytes. */
    CHECK(printed >= (1u << 20) / 200 && printed < all);
    CHECK_EQUAL(printed + lost_told(told), all);
    free(got);
    free(told);
    server_stop(server);
}

struct flooder {
    pthread_t thread;
    gs_session session;
    gs_kernel kernel;
    int tag;
};
enum { FLOODERS = 3, FLOODS = 4, FLOOD_LINES = 20, FLOOD_BLOCKS = 16, FLOOD_THREADS = 32 };

static void *flooder_run(void *argument)
{
    struct flooder *flooder = argument;
    int lines = FLOOD_LINES;
    gs_stream stream;

    CHECK_OK(gs_stream_create(flooder->session, NULL, &stream));
    for (int round = 0; round < FLOODS; round++) {
        CHECK_OK(kernels_launch(stream, flooder->kernel, FLOOD_BLOCKS, FLOOD_THREADS,
                                (void *[]){&flooder->tag, &round, &lines}));
        CHECK_OK(gs_stream_sync(flooder->session, stream));
    }
    return NULL;
}

/* The ring is full most of the time, and read while kernels write to it. */
static void of_floods_at_once_each_line_is_printed_or_counted(void)
{
    static unsigned char count[FLOODS * FLOOD_BLOCKS * FLOOD_THREADS * FLOOD_LINES];
    struct server *server = server_start(NULL);
    struct flooder flooder[FLOODERS];
    struct capture out, error;
    size_t printed = 0;
    gs_session session;
    char *got, *told, *own;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, images[0]), "lines");
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&error, STDERR_FILENO);
    for (int i = 0; i < FLOODERS; i++) {
        flooder[i] = (struct flooder){.session = session, .kernel = kernel, .tag = i};
        CHECK(!pthread_create(&flooder[i].thread, NULL, flooder_run, &flooder[i]));
    }
    for (int i = 0; i < FLOODERS; i++)
        pthread_join(flooder[i].thread, NULL);
    CHECK_OK(gs_detach(session));
    told = capture_end(&error);
    got = capture_end(&out);
    own = malloc(strlen(got) + 1);
    CHECK(own);
    for (int i = 0; i < FLOODERS; i++) {
        lines_pick(got, i, own);
        lines_count(own, i, FLOODS, FLOOD_BLOCKS * FLOOD_THREADS, FLOOD_LINES, count);
        for (size_t n = 0; n < sizeof(count); n++) {
            CHECK(count[n] <= 1);
            printed += count[n];
        }
    }
    printf("# %zu of %zu lines printed\n", printed, FLOODERS * sizeof(count));
    CHECK_EQUAL(printed + lost_told(told), FLOODERS * sizeof(count));
    free(own);
    free(got);
    free(told);
    server_stop(server);
}

/* ---- assert ---------------------------------------------------------------------------------- */

static void assertion_fails(struct server *server, const char *image, bool ask)
{
    struct capture out, error;
    gs_session session;
    gs_status status;
    char *got, *told;

    CHECK_OK(server_attach(server, &session));
    gs_kernel kernel = kernels_get(image_load(session, image), "checked");
    capture_begin(&out, STDOUT_FILENO);
    capture_begin(&error, STDERR_FILENO);
    CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&(int){7}}));
    if (ask) { /* the end is seen by a call that does not wait */
        while ((status = gs_stream_query(session, NULL)) == GS_NOT_READY)
            test_pause();
    } else {
        status = gs_sync(session);
    }
    told = capture_end(&error);
    got = capture_end(&out);
    printf("# %s: %s", image, told);
    CHECK_EQUAL(status, GS_ERR_FAULT);
    expect_text(got, "value 7\n");
    CHECK_TEXT(told, "printing.cu:");
    CHECK_TEXT(told, ": void checked(int): block: [0,0,0], thread: [0,0,0] Assertion `value < 7 && "
                     "\"it is small\"` failed.\n");
    free(got);
    free(told);
    gs_detach(session);
    server_wait_tenants(server, 0, 5000);
}

static void an_assertion_that_fails_is_told_to_its_tenant(void)
{
    struct server *server = server_start(&server_unfenced);

    for (size_t i = 0; i < IMAGES; i++)
        assertion_fails(server, images[i], i % 2);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(each_tenant_gets_its_own_lines_and_the_server_none),
    TEST(every_call_that_waits_prints),
    TEST(threads_that_wait_at_once_print_each_line_once),
    TEST(a_recorded_launch_prints_each_time),
    TEST(several_modules_share_what_they_print_to),
    TEST(a_child_prints_nothing_of_its_parent),
    TEST(what_does_not_fit_is_counted_and_the_rest_is_whole),
    TEST(of_floods_at_once_each_line_is_printed_or_counted),
    TEST(an_assertion_that_fails_is_told_to_its_tenant),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
