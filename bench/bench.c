/*
 * bench.c - the benchmark: options, the table of rows, and what runs around each measurement.
 *
 * For each row and each side in turn: start what the side needs (gshared, the MPS daemon), make the
 * measurement in a cell, end it again. The runner itself uses neither CUDA nor gshare.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "lib/device.h"
#include "lib/report.h"
#include "lib/service.h"
#include "lib/settle.h"
#include "rows/rows.h"

#define N SIDE_BIT(SIDE_NATIVE)
#define S SIDE_BIT(SIDE_SLICED)
#define M SIDE_BIT(SIDE_MPS)
#define G SIDE_BIT(SIDE_GSHARE)

#define ROW(row, among, quickly, seconds, text)                                                    \
    .name = #row, .measure = row_##row, .sides = among, .quick_sides = quickly,                    \
    .timeout_s = seconds, .title = text

static struct row rows[] = {
    {ROW(attach, N | M | G, N | M | G, 30, "Attach to ready")},
    {ROW(launch, N | M | G, N | G, 15, "Launch call returns, kernel of 4 parameters"),
     .settled = true},
    {ROW(trip, N | M | G, N | M | G, 15, "Launch + sync, one tenant"), .settled = true},
    {ROW(rate, N | S | M | G, N | S | M | G, 60, "Launches a second, all tenants together"),
     .settled = true},
    {ROW(many, M | G, G, 60, "Launches a second, many tenants that wait (MPS: 64 tried)"),
     .settled = true},
    {ROW(long, N | S | M | G, N | S | M | G, 40, "One-block 45 ms kernel, tenants at once")},
    {ROW(copies, N | G, N | G, 40, "Copies, GB/s (direct: gs_host_alloc, cuMemHostAlloc memory)"),
     .settled = true},
    {ROW(memory, S | M | G, S | G, 40, "GPU memory of a further tenant, beyond what it allocates"),
     .gpu_only = true},
    {ROW(crowd, M | G, G, 60, "Tenants attached at once, each launching (MPS: 64 tried)")},
    {ROW(idle, G, G, 30, "Idle server with 100 idle tenants")},
    {ROW(neighbour, S | M | G, G, 30, "Launch + sync, while a neighbour ..."), .settled = true},
    {ROW(alloc, N | M | G, N | G, 20, "Device memory, one tenant"), .settled = true},
    {ROW(partition, G, G, 30, "Partitions of SMs, one tenant"), .settled = true},
    {ROW(request, N | S | M | G, G, 60,
         "Request of 20 small kernels, beside best effort that saturates"),
     .settled = true},
    {ROW(weights, M | G, 0, 60, "Shares by weight, kernels of 20 us to 20 ms, 2 s")},
    {ROW(accounting, G, 0, 60, "GPU time counted and shared by weight, and not")},
    {ROW(takeover, G, 0, 120, "Another worker takes over from one that is lost or replaced")},
    {ROW(standby, G, 0, 90, "Standby, vault and journals, and none of them (--no-takeover)")},
    {ROW(fenceload, N | G, N | G, 60,
         "PTX to a kernel that can be launched; native: the compiler")},
    {ROW(operator, G, 0, 150, "An operator looks each second; 1,000 tenants are attached")},
    {ROW(soft, N, N, 40,
         "The software device by itself, under native: thread-instructions, calls")},
    {ROW(faults, S | M | G, 0, 1500, "Runs that fault beside one that trains")},
};

struct options {
    const char *build, *output, *device, *revision;
    unsigned seconds;
    unsigned sides; /* chosen; 0: all */
    bool quick;
};

static const char help[] =
    "Usage: bench/run [OPTION]... [ROW]...\n"
    "Measures gshare beside native CUDA, time slicing and NVIDIA MPS in one run.\n"
    "\n"
    "      --build DIR      where gshare is built; default: build\n"
    "      --output DIR     for table.txt, results.json, raw.txt and logs; default: "
    "$BENCH_OUTPUT,\n"
    "                       else DIR/bench of the build\n"
    "      --device KIND    cuda, soft or auto; default: $DEVICE, else auto\n"
    "      --quick          under a minute, by fewer and shorter measurements\n"
    "      --side SIDE      native, slicing, MPS or gshare alone; may be given more than once\n"
    "      --seconds N      leave out what does not fit; default 340, with --quick 58\n"
    "      --revision TEXT  of the source, for the table's head\n"
    "  -l, --list           the rows\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 all measured (whether or not goals are met), 1 something failed, 2 wrong "
    "usage.\n";

/* ---- Options --------------------------------------------------------------------------------- */

static void rows_list(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        printf("%-12s%s\n", rows[i].name, rows[i].title);
}

static void row_choose(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            rows[i].chosen = true;
            return;
        }
    }
    fprintf(stderr, "bench: no row '%s'; bench/run --list tells them\n", name);
    exit(2);
}

static unsigned seconds_parse(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (end == text || *end != '\0' || value == 0 || value > 100000) {
        fprintf(stderr, "bench: --seconds %s: a number from 1 to 100000\n", text);
        exit(2);
    }
    return (unsigned)value;
}

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' ? value : otherwise;
}

static unsigned side_parse(const char *text)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (strcasecmp(side_names[side], text) == 0)
            return SIDE_BIT(side);
    }
    fprintf(stderr, "bench: --side %s: native, slicing, MPS or gshare\n", text);
    exit(2);
}

enum {
    OPTION_BUILD = 256,
    OPTION_OUTPUT,
    OPTION_DEVICE,
    OPTION_QUICK,
    OPTION_SECONDS,
    OPTION_SIDE,
    OPTION_REV
};

static const struct option long_options[] = {{"build", required_argument, NULL, OPTION_BUILD},
                                             {"output", required_argument, NULL, OPTION_OUTPUT},
                                             {"device", required_argument, NULL, OPTION_DEVICE},
                                             {"quick", no_argument, NULL, OPTION_QUICK},
                                             {"seconds", required_argument, NULL, OPTION_SECONDS},
                                             {"side", required_argument, NULL, OPTION_SIDE},
                                             {"revision", required_argument, NULL, OPTION_REV},
                                             {"list", no_argument, NULL, 'l'},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static void option_apply(struct options *options, int code)
{
    switch (code) {
    case OPTION_BUILD:
        options->build = optarg;
        break;
    case OPTION_OUTPUT:
        options->output = optarg;
        break;
    case OPTION_DEVICE:
        options->device = optarg;
        break;
    case OPTION_QUICK:
        options->quick = true;
        break;
    case OPTION_SECONDS:
        options->seconds = seconds_parse(optarg);
        break;
    case OPTION_SIDE:
        options->sides |= side_parse(optarg);
        break;
    case OPTION_REV:
        options->revision = optarg;
        break;
    case 'l':
        rows_list();
        exit(0);
    case 'h':
        fputs(help, stdout);
        exit(0);
    default: /* getopt has said what is wrong */
        exit(2);
    }
}

static void options_parse(int argc, char **argv, struct options *options)
{
    int code;

    *options = (struct options){.build = "build",
                                .output = environment("BENCH_OUTPUT", NULL),
                                .device = environment("DEVICE", "auto"),
                                .revision = ""};
    while ((code = getopt_long(argc, argv, "lh", long_options, NULL)) != -1)
        option_apply(options, code);
    if (strcmp(options->device, "auto") != 0 && strcmp(options->device, "cuda") != 0 &&
        strcmp(options->device, "soft") != 0) {
        fprintf(stderr, "bench: the device is auto, cuda or soft, not '%s'\n", options->device);
        exit(2);
    }
    for (int i = optind; i < argc; i++)
        row_choose(argv[i]);
    for (size_t i = 0; i < ARRAY_SIZE(rows) && optind == argc; i++)
        rows[i].chosen = true;
    if (options->seconds == 0)
        options->seconds = options->quick ? 58 : 340;
}

/* ---- Running --------------------------------------------------------------------------------- */

struct bench {
    struct options options;
    char output[PATH_MAX], gshared[PATH_MAX], gsctl[PATH_MAX], soft_library[PATH_MAX];
    struct server server;
    struct mps mps;
    bool mps_here;
    uint64_t deadline;
};

static struct bench bench;

static unsigned seconds_left(void)
{
    uint64_t now = clock_ns();

    return now >= bench.deadline ? 0 : (unsigned)((bench.deadline - now) / 1000000000u);
}

/* A board without figures that says why the measurement was not made. */
static struct board *board_failed(const char *reason)
{
    struct board *board = shared_map(sizeof(*board));

    if (board != NULL)
        snprintf(board->failure, sizeof(board->failure), "%s", reason);
    return board;
}

static bool service_start(enum side side, const char *row, char *text, size_t size)
{
    char path[PATH_MAX + 64];

    if (side == SIDE_GSHARE) {
        snprintf(path, sizeof(path), "%s/gshared-%s.log", bench.output, row);
        unlink(path);
        return server_start(&bench.server, bench.gshared, plan.facts->soft ? "soft" : "cuda", NULL,
                            path, text, size);
    }
    if (side == SIDE_MPS) {
        snprintf(path, sizeof(path), "%s/mps-log", bench.output);
        return mps_start(&bench.mps, path, text, size);
    }
    return true;
}

/* Ends gshared and the MPS daemon, whichever of them runs. */
static bool services_stop(char *text, size_t size)
{
    bool server = server_stop(&bench.server, text, size);

    return mps_stop(&bench.mps, text, size) && server;
}

static struct board *side_measure(const struct row *row, enum side side)
{
    unsigned left = seconds_left(), timeout_s = row->timeout_s < left ? row->timeout_s : left;
    struct board *board;
    char text[FAILURE_TEXT_MAX];

    if (left < 2)
        return board_failed("left out: the time is over");
    if (!service_start(side, row->name, text, sizeof(text))) {
        char ignored[FAILURE_TEXT_MAX]; /* the reason of the failed start is reported */

        services_stop(ignored, sizeof(ignored));
        return board_failed(text);
    }
    plan.side = side;
    plan.server_pid = bench.server.pid;
    plan.until = clock_ns() + timeout_s * 1000000000ull;
    board = side == SIDE_GSHARE && row->settled ? cell_run(server_settle, timeout_s) : NULL;
    if (board == NULL || board->failure[0] == '\0')
        board = cell_run(row->measure, timeout_s);
    if (!services_stop(text, sizeof(text)) && board != NULL && board->failure[0] == '\0')
        snprintf(board->failure, sizeof(board->failure), "afterwards: %.240s", text);
    return board;
}

static void row_measure(struct row *row)
{
    unsigned sides = bench.options.quick ? row->quick_sides : row->sides;
    uint64_t start = clock_ns();

    printf("%-12s", row->name);
    fflush(stdout);
    for (int side = 0; side < SIDE_COUNT && !cell_interrupted; side++) {
        const struct board *b;

        if (!(sides & SIDE_BIT(side)) ||
            (bench.options.sides && !(bench.options.sides & SIDE_BIT(side))) ||
            (side == SIDE_MPS && !bench.mps_here) || (row->gpu_only && plan.facts->soft))
            continue;
        b = row->board[side] = side_measure(row, (enum side)side);
        if (b == NULL)
            continue;
        printf("  %s %s%.1f s", side_names[side], b->failure[0] != '\0' ? "FAILED " : "",
               b->seconds);
        fflush(stdout);
    }
    row->seconds = (double)(clock_ns() - start) / 1e9;
    printf("\n");
}

static void probe_measure(void)
{
    device_probe(bench.options.device, bench.soft_library);
}

/* ---- Results --------------------------------------------------------------------------------- */

static bool result_write(const char *name,
                         void (*report)(FILE *, const struct run_info *, const struct row *,
                                        size_t),
                         const struct run_info *info)
{
    char path[PATH_MAX + 64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", bench.output, name);
    f = fopen(path, "w");
    if (f == NULL) {
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
        return false;
    }
    report(f, info, rows, ARRAY_SIZE(rows));
    if (fclose(f) != 0) {
        fprintf(stderr, "bench: writing %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool results_write(uint64_t start)
{
    struct run_info info = {.facts = plan.facts,
                            .revision = bench.options.revision,
                            .cpus = sysconf(_SC_NPROCESSORS_ONLN),
                            .quick = bench.options.quick,
                            .mps = bench.mps_here,
                            .seconds = (double)(clock_ns() - start) / 1e9};
    time_t now = time(NULL);
    struct tm tm;

    strftime(info.when, sizeof(info.when), "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &tm));
    printf("\n");
    report_table(stdout, &info, rows, ARRAY_SIZE(rows));
    bool good = result_write("table.txt", report_table, &info);
    good &= result_write("results.json", report_json, &info);
    good &= result_write("raw.txt", report_raw, &info);
    if (good)
        printf("table.txt, results.json, raw.txt: %s\n", bench.output);
    return good;
}

/* ---- Main ------------------------------------------------------------------------------------ */

static void on_signal(int number)
{
    (void)number;
    cell_interrupted = true;
}

/* Fills the paths and makes the output folder. */
static bool paths_find(void)
{
    char build[PATH_MAX - 64];
    const char *programs[] = {bench.gshared, bench.gsctl, bench.soft_library};

    if (realpath(bench.options.build, bench.output) == NULL ||
        strlen(bench.output) >= sizeof(build)) {
        fprintf(stderr, "bench: %s: %s\n", bench.options.build, strerror(errno));
        return false;
    }
    snprintf(build, sizeof(build), "%s", bench.output);
    snprintf(bench.gshared, sizeof(bench.gshared), "%s/bin/gshared", build);
    snprintf(bench.gsctl, sizeof(bench.gsctl), "%s/bin/gsctl", build);
    snprintf(bench.soft_library, sizeof(bench.soft_library), "%s/lib/libgshare-softcuda.so", build);
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        if (access(programs[i], R_OK) != 0) {
            fprintf(stderr, "bench: %s: %s; `make` builds it\n", programs[i], strerror(errno));
            return false;
        }
    }
    if (bench.options.output != NULL)
        snprintf(bench.output, sizeof(bench.output), "%s", bench.options.output);
    else
        snprintf(bench.output, sizeof(bench.output), "%s/bench", build);
    if (mkdir(bench.output, 0755) < 0 && errno != EEXIST) {
        fprintf(stderr, "bench: %s: %s\n", bench.output, strerror(errno));
        return false;
    }
    return true;
}

static bool device_find(void)
{
    struct board *board = cell_run(probe_measure, 60);
    bool good = board != NULL && board->failure[0] == '\0';

    if (!good)
        fprintf(stderr, "bench: the device: %s\n",
                board != NULL ? board->failure : "no shared memory");
    board_free(board);
    return good;
}

static int rows_run(uint64_t start)
{
    bool good = true;

    if (!device_find())
        return EXIT_FAILURE;
    printf("%s: %u s at most\n", plan.facts->device, bench.options.seconds);
    bench.mps_here = !plan.facts->soft && mps_installed();
    for (size_t i = 0; i < ARRAY_SIZE(rows) && !cell_interrupted; i++) {
        if (rows[i].chosen)
            row_measure(&rows[i]);
    }
    good = results_write(start) && !cell_interrupted;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            good &= rows[i].board[side] == NULL || rows[i].board[side]->failure[0] == '\0';
            board_free(rows[i].board[side]);
        }
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    uint64_t start = clock_ns();
    char text[FAILURE_TEXT_MAX];
    int result;

    options_parse(argc, argv, &bench.options);
    if (!paths_find())
        return EXIT_FAILURE;
    plan.facts = shared_map(sizeof(*plan.facts));
    if (plan.facts == NULL || !mps_avoid(&bench.mps, text, sizeof(text))) {
        fprintf(stderr, "bench: %s\n", plan.facts == NULL ? strerror(errno) : text);
        return EXIT_FAILURE;
    }
    plan.quick = bench.options.quick;
    plan.gshared = bench.gshared;
    plan.gsctl = bench.gsctl;
    plan.output = bench.output;
    bench.deadline = start + bench.options.seconds * 1000000000ull;
    /* Tenants whose cell was killed become children of this process, which waits for their end. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: polls end */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    result = rows_run(start);
    mps_free(&bench.mps);
    return result;
}
