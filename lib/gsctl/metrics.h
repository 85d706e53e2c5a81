/* metrics.h - what the files of `gsctl metrics` share: metrics.c is the command, metrics_text.c has
 * the table of figures and writes them, metrics_http.c serves them. */
#ifndef GS_GSCTL_METRICS_H
#define GS_GSCTL_METRICS_H

#include "gsctl/gsctl.h"

enum metrics_form {
    METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
    METRICS_PROMETHEUS   /* Prometheus's text format 0.0.4, which node_exporter reads */
};
/* What a scraper is told of the form, as HTTP's Content-Type. */
const char *metrics_content_type(enum metrics_form form);

/* One look at a server. */
struct metrics_sample {
    const char *instance;
    bool up; /* the server has answered; else there is nothing but that it has not */
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

/* ---- metrics_http.c -------------------------------------------------------------------------- */

/* Serves http://ADDR:PORT/metrics, each time with a new sample, until SIGINT or SIGTERM comes.
 * Returns the exit status. address: "[ADDR:]PORT", without ADDR the loopback's. */
int metrics_serve(const char *address, const char *instance);

#endif
