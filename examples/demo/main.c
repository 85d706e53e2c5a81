/*
 * main.c - the demo: photographs resized on one device by one, two and four processes at once; one
 * of four killed in the middle; and nothing left at the end.
 *
 *     demo [--device auto|cuda|soft] [--seconds S] [--output FOLDER] PHOTO.jpg
 *     demo --draw PHOTO.jpg
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gshare.h"
#include "picture.h"
#include "resize.h"
#include "server.h"
#include "tenant.h"

#define READY_SECONDS   60
#define STAGE_SECONDS   3.0
#define VICTIM          1u /* the second of four */
#define PIXELS_AN_IMAGE ((uint64_t)OUT_WIDTH * OUT_HEIGHT)

struct options {
    const char *device, *output, *photo;
    double seconds;
    bool draw; /* write the photograph, and end */
};

/* Waits look at it again and again: a signal just before a wait would not end that. */
static volatile sig_atomic_t interrupted;
static const struct timespec look_again = {0, 2000000};

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* 1234567 as 1,234,567. Static buffer. */
static const char *with_commas(uint64_t n)
{
    static char text[32];
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Sorts the latencies in place: the tenant has ended. */
static double latency_ms(struct tenant_result *result, double part)
{
    uint64_t n = result->images < LATENCIES_MAX ? result->images : LATENCIES_MAX;

    if (n == 0)
        return 0;
    qsort(result->latency_ms, n, sizeof(float), compare_floats);
    return result->latency_ms[(uint64_t)((double)(n - 1) * part)];
}

static double rate(const struct tenant_result *result)
{
    return result->seconds > 0 ? (double)result->images / result->seconds : 0;
}

static void print_tenant(struct tenant_result *result, unsigned number)
{
    printf("         tenant %u   %9.1f  %8.2f ms %8.2f ms   %13s   %s\n", number + 1, rate(result),
           latency_ms(result, 0.5), latency_ms(result, 0.99),
           with_commas(result->images * PIXELS_AN_IMAGE), result->wrong == 0 ? "all" : "NOT ALL");
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static bool tenants_fork(struct stage *stage)
{
    pid_t parent = getpid();

    fflush(stdout);
    for (unsigned i = 0; i < stage->tenants; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGINT, SIG_IGN); /* the main process decides */
            _exit(getppid() == parent && tenant_run(stage, i) ? 0 : 1);
        }
        if (pid < 0) {
            fprintf(stderr, "demo: fork: %s\n", strerror(errno));
            return false;
        }
        stage->tenant[i].pid = pid;
    }
    return true;
}

/* Whether no tenant has ended yet: one that has failed. */
static bool tenants_alive(const struct stage *stage)
{
    for (unsigned i = 0; i < stage->tenants; i++) {
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)stage->tenant[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0)
            return false;
    }
    return true;
}

/* All attached, with the photograph decoded: the race is fair. */
static bool tenants_release(struct stage *stage)
{
    for (unsigned i = 0; i < stage->tenants; i++) {
        double until = now_seconds() + READY_SECONDS;

        while (sem_trywait(&stage->ready) < 0) {
            if (interrupted || now_seconds() > until || !tenants_alive(stage))
                return false;
            nanosleep(&look_again, NULL);
        }
    }
    for (unsigned i = 0; i < stage->tenants; i++)
        sem_post(&stage->go);
    return true;
}

static void tenants_kill(const struct stage *stage)
{
    for (unsigned i = 0; i < stage->tenants; i++) {
        if (stage->tenant[i].pid > 0) {
            kill(stage->tenant[i].pid, SIGKILL);
            waitpid(stage->tenant[i].pid, NULL, 0);
        }
    }
}

/* Waits for tenant i. True: it did all that it should. */
static bool tenant_finish(struct stage *stage, unsigned i)
{
    pid_t ended;
    int status;

    while ((ended = waitpid(stage->tenant[i].pid, &status, WNOHANG)) == 0) {
        if (interrupted)
            kill(stage->tenant[i].pid, SIGKILL);
        nanosleep(&look_again, NULL);
    }
    if (ended < 0)
        return false;
    stage->tenant[i].pid = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && stage->tenant[i].wrong == 0;
}

static struct stage *stage_start(const struct options *options, unsigned tenants, double seconds,
                                 uint64_t count)
{
    struct stage *stage = interrupted ? NULL : stage_new(options->photo, options->output, tenants);

    if (stage == NULL)
        return NULL;
    stage->seconds = seconds;
    stage->count = count;
    if (tenants_fork(stage) && tenants_release(stage))
        return stage;
    tenants_kill(stage);
    stage_free(stage);
    return NULL;
}

/* Runs some tenants for a while; *together becomes the images per second of all. */
static bool stage_race(const struct options *options, unsigned tenants, double one,
                       double *together)
{
    struct stage *stage = stage_start(options, tenants, options->seconds, 0);
    bool good = stage != NULL;
    double sum = 0;

    for (unsigned i = 0; stage != NULL && i < tenants; i++)
        good = tenant_finish(stage, i) && good;
    if (stage == NULL || interrupted) {
        stage_free(stage);
        return false;
    }
    printf("%5u\n", tenants);
    for (unsigned i = 0; i < tenants; i++) {
        print_tenant(&stage->tenant[i], i);
        sum += rate(&stage->tenant[i]);
    }
    if (tenants > 1 && one > 0)
        printf("         together   %9.1f  = %.2f times one tenant\n", sum, sum / one);
    *together = sum;
    stage_free(stage);
    return good;
}

/* Four tenants with a given number of images; one is killed when it has done half of them. */
static bool stage_death(const struct options *options, const struct server *server, uint64_t count)
{
    struct stage *stage = stage_start(options, TENANTS_MAX, 0, count);
    struct timespec pause = {0, 200000};
    bool good = true;

    if (stage == NULL)
        return false;
    while (stage->tenant[VICTIM].images < count / 2 && tenants_alive(stage) && !interrupted)
        nanosleep(&pause, NULL);
    if (interrupted) {
        tenants_kill(stage);
        stage_free(stage);
        return false;
    }
    printf("\nFour tenants have %s images each to do. `gsctl ps`:\n", with_commas(count));
    fflush(stdout);
    good = server_tool(server, "ps", "    ");
    kill(stage->tenant[VICTIM].pid, SIGKILL);
    waitpid(stage->tenant[VICTIM].pid, NULL, 0);
    stage->tenant[VICTIM].pid = 0;
    if (stage->tenant[VICTIM].images >= count)
        good = false; /* too late to show anything */
    putchar('\n');
    for (unsigned i = 0; i < TENANTS_MAX; i++) {
        struct tenant_result *result = &stage->tenant[i];
        bool finished = i != VICTIM && tenant_finish(stage, i) && result->images == count;

        printf("    tenant %u   %s %s of ", i + 1, i == VICTIM ? "SIGKILL after" : "finished",
               with_commas(result->images));
        printf("%s images, %s pixels right\n", with_commas(count),
               result->wrong == 0 ? "all" : "NOT ALL");
        good = good && (finished || i == VICTIM) && result->wrong == 0;
    }
    stage_free(stage);
    return good;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* What comes, and how long it takes; what one may wonder at. */
static void outline(const struct options *options, bool software)
{
    printf("Three races of %g s each, by 1, 2 and 4 tenants; then 4 tenants of whom one is killed, "
           "some %g s.\n"
           "With starts and checks %.0f s, or more where others use the machine.\n"
           "Each image is a crop of the photograph, at one of four places in turn, so that no "
           "result can be a\nstale one.\n",
           options->seconds, options->seconds, 4 * options->seconds + 4);
    if (software)
        puts("On the software device more tenants are hardly faster: their kernels are interpreted "
             "by the same\nprocessors, which one tenant keeps busy; where other programs are busy, "
             "too, more tenants get\nmore of them. On a GPU they fill what one leaves idle.");
    putchar('\n');
}

/* Attaches once, to say what the device is. */
static bool introduce(struct server *server, const struct options *options)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_status status = gs_attach(NULL, &session);

    if (status == GS_OK)
        status = gs_session_info(session, &desc);
    if (status == GS_OK)
        status = gs_detach(session);
    if (status != GS_OK) {
        fprintf(stderr, "demo: %s: %s\n", gs_status_name(status), gs_last_error_message());
        return false;
    }
    server_note_processes(server, desc.server_pid);
    printf("\n%s, as %u x %u -> %u x %u, each pixel the mean of 4 x 4 in linear light\n",
           options->photo, IN_WIDTH, IN_HEIGHT, OUT_WIDTH, OUT_HEIGHT);
    printf("server %s, device %d: %s, %u SMs\n\n", desc.instance, desc.device, desc.device_name,
           desc.sm_count);
    outline(options, strstr(desc.device_name, "software device") != NULL);
    return true;
}

static bool show(const struct options *options, const struct server *server)
{
    double one = 0, together = 0;

    printf("tenants              images/s         p50         p99   pixels checked   right\n");
    if (!stage_race(options, 1, 0, &one) || !stage_race(options, 2, one, &together) ||
        !stage_race(options, 4, one, &together))
        return false;
    uint64_t count = (uint64_t)(together / 4 * options->seconds);
    return stage_death(options, server, count < 4 ? 4 : count);
}

static bool say_goodbye(struct server *server)
{
    struct leftovers left;
    bool stopped;

    server_note_processes(server, server->pid[0]); /* a worker may have been replaced */
    stopped = server_stop(server);
    server_leftovers(server, &left);
    printf("\nThe server has stopped. Left behind: %u processes, %u queues, %u shared segments.\n",
           left.processes, left.queues, left.segments);
    return stopped && left.processes + left.queues + left.segments == 0;
}

static const char usage[] =
    "Usage: demo [--device auto|cuda|soft] [--seconds S] [--output FOLDER] PHOTO.jpg\n"
    "       demo --draw PHOTO.jpg\n"
    "Photographs resized by 1, 2 and 4 processes that share a device; one of them is killed.\n"
    "\n"
    "  -d, --device KIND    what the server takes; default: auto\n"
    "  -s, --seconds S      each of the three races takes so long; default: 3\n"
    "  -o, --output FOLDER  where the small pictures go; default: here\n"
    "      --draw           draws a picture that stands for a photograph, and ends\n"
    "  -h, --help           this text\n";

static bool options_read(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"device", required_argument, NULL, 'd'},  {"output", required_argument, NULL, 'o'},
        {"seconds", required_argument, NULL, 's'}, {"draw", no_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int c;

    *options = (struct options){.device = "auto", .output = ".", .seconds = STAGE_SECONDS};
    while ((c = getopt_long(argc, argv, "d:o:s:h", known, NULL)) != -1) {
        switch (c) {
        case 'd':
            options->device = optarg;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 's':
            options->seconds = atof(optarg);
            break;
        case 'w':
            options->draw = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            return false;
        }
    }
    if (optind + 1 != argc || options->seconds <= 0)
        return false;
    options->photo = argv[optind];
    return true;
}

static bool photo_draw(const char *path)
{
    struct picture picture;
    bool good;

    if (!picture_draw(&picture, 2 * IN_WIDTH, 2 * IN_HEIGHT))
        return false;
    good = picture_write(path, picture.rgb, picture.width, picture.height);
    picture_free(&picture);
    return good;
}

/* Before any process starts, so that a wrong file is the only thing said. */
static bool photo_good(const char *path)
{
    struct picture picture;

    if (!picture_read(path, IN_WIDTH, IN_HEIGHT, &picture))
        return false;
    picture_free(&picture);
    return true;
}

static bool output_good(const char *folder)
{
    mkdir(folder, 0777);
    if (access(folder, W_OK | X_OK) == 0)
        return true;
    fprintf(stderr, "demo: --output %s: %s\n", folder, strerror(errno));
    return false;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = interrupt}; /* no SA_RESTART: waits are to end */
    struct options options;
    struct server server;
    bool good;

    if (!options_read(argc, argv, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    if (options.draw)
        return photo_draw(options.photo) ? 0 : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* who stops reading still gets its server stopped */
    if (!output_good(options.output) || !photo_good(options.photo) ||
        !server_start(&server, options.device))
        return 1;
    good = introduce(&server, &options) && show(&options, &server);
    good = say_goodbye(&server) && good;
    if (!good)
        server_kill(&server);
    if (good)
        printf("The pictures are in %s: 1-of-1.jpg to 4-of-4.jpg, of each tenant the crop that it "
               "resized last.\n",
               options.output);
    else
        printf("%s\n", interrupted ? "Interrupted." : "SOMETHING WENT WRONG, see above.");
    return good ? 0 : 1;
}
