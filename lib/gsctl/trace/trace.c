/* trace.c - `gsctl trace`: writes what tenants submit and devices do to a file; see trace.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/trace/trace.h"

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static void signals_take(void)
{
    const struct sigaction action = {.sa_handler = stop};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Redirects standard output to the file. */
static bool output_open(const char *path)
{
    if (!path || !strcmp(path, "-"))
        return true;
    CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        fprintf(stderr, "gsctl: %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

/* Opens the picture's file. Returns NULL without a path, or, with a message, if the file cannot be
 * written. */
static FILE *picture_open(const char *path)
{
    FILE *picture = path ? fopen(path, "we") : NULL;

    if (path && !picture)
        fprintf(stderr, "gsctl: %s: %s\n", path, strerror(errno));
    return picture;
}

/* Writes the picture. Returns the exit status. */
static int picture_print(const struct trace_model *model, FILE *picture, const char *path)
{
    trace_svg_print(model, picture);
    const bool failed = ferror(picture);
    if (fclose(picture) == 0 && !failed)
        return 0;
    fprintf(stderr, "gsctl: %s: %s\n", path, strerror(errno));
    return EXIT_ERROR;
}

static void summary_print(const struct trace_model *model, const struct command_options *options)
{
    const char *file = options->output ? options->output : options->json ? "-" : "";
    const char *picture = options->svg ? options->svg : "";
    const struct trace_log *log = model->log;
    uint64_t launches = 0;
    size_t tenants = 0;

    for (size_t i = 0; i < model->tenant_count; i++) {
        tenants += model->tenant[i].wanted;
        launches += model->tenant[i].wanted ? model->tenant[i].launches : 0;
    }
    fprintf(stderr, "gsctl: %s%s%s: %.1f s, %zu tenant%s, %llu launch%s, %zu event%s\n", file,
            *file && *picture ? ", " : "", picture, (double)(log->end_ns - log->begin_ns) * 1e-9,
            tenants, tenants == 1 ? "" : "s", (unsigned long long)launches,
            launches == 1 ? "" : "es", log->count, log->count == 1 ? "" : "s");
    if (options->tenant_count && !tenants)
        fputs("gsctl: nobody of --tenant was there: gsctl ps shows sessions, processes and users\n",
              stderr);
    if (log->full)
        fputs("gsctl: the trace ended early: it had as many events as it can keep; "
              "trace less time\n",
              stderr);
    if (log->lost)
        fprintf(stderr,
                "gsctl: %llu events are missing: they came faster than this process read them\n",
                (unsigned long long)log->lost);
}

int command_trace(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct trace_model model;
    struct trace_log log;

    gs_status status = trace_log_begin(control, &log, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    FILE *picture = picture_open(options->svg);
    if ((options->svg && !picture) || !output_open(options->output)) {
        trace_log_end(control, &log);
        if (picture)
            fclose(picture);
        return EXIT_ERROR;
    }
    signals_take();
    status = trace_log_run(control, &log,
                           options->seconds ? clock_ns() + options->seconds * UINT64_C(1000000000)
                                            : UINT64_MAX,
                           &stopped, message);
    trace_model_init(&model, &log, options->tenant, options->tenant_count);
    if (options->output || options->json)
        trace_json_print(&model);
    int result = picture ? picture_print(&model, picture, options->svg) : 0;
    summary_print(&model, options);
    if (status == GS_OK && !log.full && trace_silent_tell(&log))
        result = EXIT_ERROR;
    trace_model_deinit(&model);
    trace_log_deinit(&log);
    return status == GS_OK ? result : ask_failed(status, message);
}
