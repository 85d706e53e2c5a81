/*
 * main.c - the supervisor's start, and the way to the background.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/descriptor_table.h"
#include "common/log_event.h"
#include "common/setting_text.h"
#include "common/util.h"
#include "server/keeper.h"
#include "server/log_file.h"
#include "server/main.h"
#include "server/options.h"
#include "server/restore.h"
#include "server/supervisor.h"
#include "server/upgrade.h"

/* ---- Background ------------------------------------------------------------------------------ */

/* The pipe by which the parent of a background server gets READY_WORD or the reason of a failure,
 * after lines of warnings if any. -1: no parent waits. */
static int ready_pipe = -1;

static void ready_tell(const char *text)
{
    if (ready_pipe < 0)
        return;
    log_warnings_also(-1);
    ssize_t n = write(ready_pipe, text, strlen(text));
    (void)n; /* a parent that was killed needs no word */
    close(ready_pipe);
    ready_pipe = -1;
}

#define READY_WORD "ready"

/* Waits for the server's word, and returns the exit status. `log_file` is named in the message to
 * the user; NULL: there is none. */
static int parent_wait(int pipe_end, const char *log_file)
{
    FILE *pipe = fdopen(pipe_end, "r");
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    ssize_t n = 0;

    while (pipe && (n = getline(&line, &room, pipe)) > 0 && line[n - 1] == '\n')
        fprintf(stderr, "gshared: %s", line);
    if (n > 0 && !strcmp(line, READY_WORD)) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "gshared: the log: %s\n", log_file ? log_file : "none is kept");
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "gshared: %s\n", n > 0 ? line : "the server ended before it was ready");
    return EXIT_FAILURE;
}

/* Continues in a child without a terminal. Returns only in the child; the parent waits for the
 * child's word and exits. */
static void background_enter(const struct server_options *options)
{
    int ends[2], null;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
        fprintf(stderr, "gshared: going to the background: %s\n", strerror(errno));
        exit(EXIT_FAILURE);
    }
    if (child > 0) {
        close(ends[1]);
        exit(parent_wait(ends[0], options->log_file));
    }
    close(ends[0]);
    ready_pipe = ends[1];
    log_warnings_also(ready_pipe);
    setsid();
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    if (!options->log_file) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    close(null);
}

/* ---- Main ------------------------------------------------------------------------------------ */

/* Logs the settings from MPS's variables, since they may not have been meant for this server. */
static void mps_say(const struct ctl_settings *mps)
{
    for (size_t i = 0; i < setting_field_count; i++) {
        char value[SETTING_TEXT_MAX];

        if (!(mps->fields & setting_fields[i].bit))
            continue;
        struct log_event event = log_event_begin("limits");
        log_event_text(&event, "by", "environment");
        log_event_text(&event, "for", "default");
        log_event_text(&event, setting_fields[i].name,
                       setting_print(value, mps, &setting_fields[i]));
        log_event_write(&event, LOG_LEVEL_INFO);
    }
}

static void on_ready(struct server *server)
{
    mps_say(&server->options.mps);
    log_info("event=ready server=%s", server->options.instance);
    ready_tell(READY_WORD);
}

static struct server_options options;

static void failure_tell(const struct server *server)
{
    log_error("event=start-failed reason=%s", server->failure);
    ready_tell(server->failure);
}

static bool metrics_begin(struct server_memory *memory)
{
    struct server *server = &memory->server;
    char error[METRICS_ERROR_MAX];

    if (metrics_process_begin(&memory->metrics, &server->options, error))
        return true;
    server_fail(server, "--metrics %s: %s", server->options.metrics, error);
    return false;
}

static bool prepare(struct server_memory *memory)
{
    bool good;

    /* `here` is set once there is a server. */
    if (memory->here) {
        good = upgrade_adopt(memory, &options, on_ready);
        if (good)
            metrics_process_restart(&memory->metrics, &memory->server.options);
    } else {
        good = server_prepare(&memory->server, &options, on_ready) && metrics_begin(memory);
    }
    if (good)
        descriptor_table_reserve(DESCRIPTOR_TABLE_SIZE); /* supervisors will share this table */
    else
        failure_tell(&memory->server);
    return good;
}

static int supervise(struct server_memory *memory, bool again)
{
    bool good;

    if (again)
        ready_pipe = -1; /* after an upgrade this number may be another descriptor's */
    good = server_init(memory, again);
    if (!good && again) { /* nothing is freed, since the next supervisor takes all over */
        log_error("event=supervisor-failed reason=%s", memory->server.failure);
        _exit(KEEPER_AGAIN);
    }
    if (good) {
        good = server_run(&memory->server);
        metrics_process_await_stop(&memory->metrics);
        server_deinit(&memory->server);
    }
    if (!good) {
        failure_tell(&memory->server);
        return EXIT_FAILURE;
    }
    log_info("event=ended server=%s", options.instance);
    return EXIT_SUCCESS;
}

/* The workers inherit the supervisor's environment. */
static void workers_tell(const struct worker_settings *workers)
{
    char lanes[16];

    if (workers->log_level)
        setenv("GSHARE_LOG", workers->log_level, 1);
    if (workers->user)
        setenv("GSHARE_WORKER_USER", workers->user, 1);
    if (workers->cublas)
        setenv("GSHARE_CUBLAS", workers->cublas, 1);
    if (workers->ptxas)
        setenv("GSHARE_PTXAS", workers->ptxas, 1);
    if (workers->lanes) {
        snprintf(lanes, sizeof(lanes), "%u", workers->lanes);
        setenv("GSHARE_LANES", lanes, 1);
    }
}

int supervisor_main(int argc, char **argv)
{
    struct worker_settings workers = {0};
    int status, memory, log = -1;

    if (upgrade_asked(argc, argv, &status))
        return status;
    upgrade_init(argv);
    memory = upgrade_memory();
    options_parse(argc, argv, &options, &workers);
    if (options.log_file && (log = log_file_open(options.log_file)) < 0) {
        fprintf(stderr, "gshared: --log-file %s: %s\n", options.log_file, strerror(errno));
        return EXIT_FAILURE;
    }
    /* Standard error stays open until the start is done, so that the waiting user reads there why
     * it failed. */
    if (options.background && memory < 0)
        background_enter(&options);
    if (log >= 0)
        log_file_use(log);
    log_init("gshared", workers.log_level);
    workers_tell(&workers);
    return keeper_run(memory, prepare, supervise);
}
