/* metrics.h - what the files of `gsctl metrics` share: metrics.c is the command, metrics_text.c has
 * the table of figures and writes them, metrics_labels.c has their labels, metrics_http.c serves
 * them, metrics_json.c prints them as JSON. */
#ifndef GS_GSCTL_METRICS_METRICS_H
#define GS_GSCTL_METRICS_METRICS_H

#include "gsctl/base/options.h"

/* Returns the exit status. */
int command_metrics(struct control *control, const struct command_options *options);

enum metrics_form {
    METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
    METRICS_PROMETHEUS   /* Prometheus's text format 0.0.4, which node_exporter reads */
};
/* Returns HTTP's Content-Type of the form. */
const char *metrics_content_type(enum metrics_form form);

/* One sample of a server. */
struct metrics_sample {
    const char *instance;
    bool up; /* the server has answered; else the other members are empty */
    uid_t owner;
    struct ctl_status_reply status;
    struct ctl_tenant *tenants; /* metrics_sample_deinit frees it */
    size_t count;
};
/* Asks the server. On failure the sample says that it is not up. */
gs_status metrics_sample_init(struct metrics_sample *sample, const char *instance,
                              char message[REQUEST_MESSAGE_MAX]);
void metrics_sample_deinit(struct metrics_sample *sample);

/* The sample as text; the caller frees it. */
char *metrics_text(const struct metrics_sample *sample, enum metrics_form form, size_t *size);

/* ---- metrics_labels.c ------------------------------------------------------------------------ */

struct metrics_text {
    char *text;
    size_t size;
};

/* The labels of the server, of devices and of sessions. They are written once and copied for each
 * family, since a thousand sessions need a thousand look-ups of users. */
struct metrics_labels {
    struct metrics_both {
        struct metrics_text labels; /* labels of every figure: "{a="b",c="d"" */
        struct metrics_text info;   /* further labels of the info: ",e="f"" */
    } server, device[sizeof(((struct ctl_status_reply *)0)->device) / sizeof(struct ctl_device)];
    struct metrics_both *session; /* in the order of the sample's tenants */
};
/* Puts a label's value in parts, quoted and escaped, since it may be a tenant's text. */
void metrics_value_put(const char *value, void (*put)(void *to, const char *part, size_t size),
                       void *to);
void metrics_labels_init(struct metrics_labels *labels, const struct metrics_sample *sample);
void metrics_labels_deinit(struct metrics_labels *labels, const struct metrics_sample *sample);

/* ---- metrics_json.c -------------------------------------------------------------------------- */

/* Prints OpenMetrics's text as JSON, and changes the text. */
void metrics_json_print(char *text, const char *instance);

/* ---- metrics_http.c -------------------------------------------------------------------------- */

/* Serves http://ADDR:PORT/metrics, each time with a new sample, until SIGINT or SIGTERM comes.
 * Returns the exit status. address: "[ADDR:]PORT", without ADDR the loopback's. */
int metrics_serve(const char *address, const char *instance);

#endif
