/*
 * metrics.c - `gsctl metrics`: the server's metrics for Prometheus and programs that read its
 * formats. It is a separate program on purpose: the supervisor needs only libc, never blocks, and
 * serves no sockets. The figures come from its answers to status and ps.
 */
#include "gsctl/metrics/metrics.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gs_status metrics_sample_init(struct metrics_sample *sample, const char *instance,
                              char message[REQUEST_MESSAGE_MAX])
{
    struct control control = {.queue = -1};
    gs_status status = control_open(&control, instance, message);

    *sample = (struct metrics_sample){.instance = instance};
    if (status != GS_OK)
        return status;
    sample->owner = control.owner;
    status = status_read(&control, &sample->status, message);
    if (status == GS_OK)
        status = tenants_read(&control, &sample->tenants, &sample->count, NULL, message);
    control_close(&control);
    sample->up = status == GS_OK;
    return status;
}

void metrics_sample_deinit(struct metrics_sample *sample)
{
    free(sample->tenants);
    sample->tenants = NULL;
}

/* ---- The file -------------------------------------------------------------------------------- */

static int file_failed(const char *path, FILE *file)
{
    fprintf(stderr, "gsctl: %s: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
    unlink(path);
    return EXIT_ERROR;
}

/* Replaces the file atomically, so that readers never see a part. The temporary file's name does
 * not end in .prom, so that node_exporter, which reads *.prom, ignores it. */
static int file_replace(const char *path, const char *text, size_t size)
{
    char part[4096];
    FILE *file;

    if (snprintf(part, sizeof(part), "%s.%d", path, (int)getpid()) >= (int)sizeof(part))
        usage("--textfile: a path of more than %zu characters", sizeof(part) - 16);
    file = fopen(part, "wxe");
    if (!file)
        return file_failed(part, NULL);
    /* node_exporter runs as another user. */
    if (fchmod(fileno(file), 0644) != 0 || fwrite(text, 1, size, file) != size || fflush(file) != 0)
        return file_failed(part, file);
    if (fclose(file) != 0 || rename(part, path) != 0)
        return file_failed(part, NULL);
    return 0;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Runs the command. With --watch or --listen it survives the server's end, and then reports that
 * the server is not up. */
int command_metrics(struct control *control, const struct command_options *options)
{
    const enum metrics_form form = options->textfile ? METRICS_PROMETHEUS : METRICS_OPENMETRICS;
    char message[REQUEST_MESSAGE_MAX], *text;
    struct metrics_sample sample;
    gs_status status;
    size_t size;
    int result = 0;

    (void)control;
    if (options->listen && (options->textfile || options->watch_s))
        usage("--listen goes neither with --textfile nor with --watch");
    if (options->json && (options->listen || options->textfile))
        usage("--json goes neither with --listen nor with --textfile: Prometheus reads its own "
              "forms");
    if (options->watch_s && !options->textfile && !options->json)
        usage("--watch needs --textfile or --json: a second document would follow the first one's "
              "end");
    if (options->listen)
        return metrics_serve(options->listen, options->instance);
    status = metrics_sample_init(&sample, options->instance, message);
    if (status != GS_OK && !options->watch_s) {
        metrics_sample_deinit(&sample);
        return ask_failed(status, message);
    }
    text = metrics_text(&sample, form, &size);
    if (options->textfile)
        result = file_replace(options->textfile, text, size);
    else if (options->json)
        metrics_json_print(text, options->instance);
    else
        fwrite(text, 1, size, stdout);
    free(text);
    metrics_sample_deinit(&sample);
    return result;
}
