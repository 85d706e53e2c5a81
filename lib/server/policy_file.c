/* policy_file.c - see policy_file.h. */
#include "server/policy_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/notify.h"
#include "server/base/thread.h"
#include "server/control/operator.h"
#include "server/reconcile/plan.h"
#include "server/state/settings_fit.h"
#include "server/state/settings_log.h"
#include "server/state/state_file.h"

/* One reading of the file by a thread of its own, which owns the struct until `done` is readable;
 * then the loop owns it. */
struct policy_reading {
    struct server *server;
    struct watch done; /* an eventfd */
    const char *path;
    bool good;
    struct settings settings;
    struct policy policy;
    char error[STATE_ERROR_MAX];
};

/* ---- What the file says ---------------------------------------------------------------------- */

/* Finds the default directory for machine code. A user's own server has the user's cache. */
static void cache_default(char cache[CACHE_PATH_MAX])
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[2 * CACHE_PATH_MAX] = "none";

    if (geteuid() == 0)
        snprintf(path, sizeof(path), "/var/cache/gshare");
    else if (base && base[0] == '/')
        snprintf(path, sizeof(path), "%s/gshare", base);
    else if (home && home[0] == '/')
        snprintf(path, sizeof(path), "%s/.cache/gshare", home);
    if (!cache_parse(cache, path))
        strcpy(cache, "none");
}

static void cache_fill(char cache[CACHE_PATH_MAX], const char *said)
{
    if (!cache[0] && said[0])
        strcpy(cache, said);
    if (!cache[0])
        cache_default(cache);
    if (!strcmp(cache, "none"))
        cache[0] = '\0';
}

/* Fills in the options that the command line left open. */
static bool options_fill(struct server_options *options, const struct policy *policy,
                         char error[STATE_ERROR_MAX])
{
    if ((policy->served.given || policy->observers.given) && geteuid() != 0) {
        snprintf(error, STATE_ERROR_MAX, "%s: only root's server can serve other users",
                 policy->served.given ? "allow-users" : "observers");
        return false;
    }
    if (policy->served.given && !options->served.given)
        options->served = policy->served;
    if (policy->observers.given && !options->observers.given)
        options->observers = policy->observers;
    if (options->max_tenants == 0)
        options->max_tenants = policy->max_tenants ? policy->max_tenants : TENANTS_DEFAULT;
    if (options->mem_limit == 0)
        options->mem_limit = policy->mem_limit;
    cache_fill(options->cache, policy->cache);
    if (!options->metrics[0])
        strcpy(options->metrics, policy->metrics);
    if (!strcmp(options->metrics, "none"))
        options->metrics[0] = '\0';
    return true;
}

bool policy_file_init(struct server *server)
{
    struct server_options *options = &server->options;
    struct policy policy = {0};
    char error[STATE_ERROR_MAX];

    server->given = *options;
    if ((!options->policy_file ||
         policy_load(&server->policy, &policy, options->policy_file, NULL, error)) &&
        options_fill(options, &policy, error))
        return true;
    server_fail(server, "%.80s: %.150s", options->policy_file, error);
    return false;
}

/* ---- Another reading ------------------------------------------------------------------------- */

/* Adds both lists of users to the event if they differ. Returns whether they do. */
static bool users_log(struct log_event *event, const char *name, const char *name_was,
                      const struct user_list *old, const struct user_list *list)
{
    char former[USER_LIST_TEXT], text[USER_LIST_TEXT];

    if (!strcmp(user_list_print(old, former), user_list_print(list, text)))
        return false;
    log_event_text(event, name, text);
    log_event_text(event, name_was, former);
    return true;
}

/* Logs the changes that [server] has made. */
static void server_log(const char *path, const struct server_options *old,
                       const struct server_options *options)
{
    struct log_event event = log_event_begin("limits");
    bool changed = old->mem_limit != options->mem_limit;

    log_event_text(&event, "by", path);
    log_event_text(&event, "for", "server");
    if (changed) {
        log_event_size(&event, "mem-limit", options->mem_limit);
        log_event_size(&event, "mem-limit_was", old->mem_limit);
    }
    changed |= users_log(&event, "allow-users", "allow-users_was", &old->served, &options->served);
    changed |=
        users_log(&event, "observers", "observers_was", &old->observers, &options->observers);
    if (changed)
        log_event_write(&event, LOG_LEVEL_INFO);
}

/* Puts the values that were read in force, or changes nothing. */
static bool apply(struct server *server, struct policy_reading *reading)
{
    const struct server_options before = server->options;
    static struct settings former; /* too large for the stack */
    struct server_options options = server->given;
    char text[REFUSAL_TEXT_MAX] = "", note[OPERATOR_NOTE_MAX];

    if (!options_fill(&options, &reading->policy, reading->error))
        return false;
    if (server_serves_others(&options) != server_serves_others(&before)) {
        snprintf(reading->error, sizeof(reading->error),
                 "whether others than root are served is settled at the server's start");
        return false;
    }
    if (options.max_tenants != before.max_tenants)
        log_warning("event=policy-note file=%s reason=\"max-tenants = %u holds from the server's "
                    "next start on; now: %u\"",
                    reading->path, options.max_tenants, before.max_tenants);
    options.max_tenants = before.max_tenants;
    if (strcmp(options.metrics, before.metrics) != 0)
        log_warning("event=policy-note file=%s reason=\"metrics = %s holds from the server's next "
                    "start on; now: %s\"",
                    reading->path, options.metrics[0] ? options.metrics : "none",
                    before.metrics[0] ? before.metrics : "none");
    strcpy(options.metrics, before.metrics);
    former = server->policy;
    server->options = options;
    server->policy = reading->settings;
    quotas_note(server, note);
    if (plan_change(server, NULL, text) != GS_OK) {
        server->options = before;
        server->policy = former;
        snprintf(reading->error, sizeof(reading->error), "%s", text);
        return false;
    }
    server_commit(server, 0);
    settings_policy_log(reading->path, &former, &server->policy);
    server_log(reading->path, &before, &options);
    if (*note)
        log_warning("event=policy-note file=%s reason=%s", reading->path, note);
    for (int i = 0; i < server->device_count; i++) {
        device_due(&server->device[i], DUE_POLICY | DUE_SEND | DUE_SETTLE);
        if (server->device[i].worker.state == WORKER_READY)
            settings_fit_log(&server->device[i]);
    }
    return true;
}

static void reading_free(struct policy_reading *reading)
{
    int fd = reading->done.fd;

    watch_remove(&reading->server->loop, &reading->done);
    if (fd >= 0)
        close(fd);
    free(reading);
}

/* Reports the result of a reading to the service manager and the log. `failure`: NULL on
 * success. */
static void reload_tell(const struct server *server, const char *failure)
{
    const char *path = server->options.policy_file;
    char state[64 + STATE_ERROR_MAX + 128];

    if (failure)
        log_error("event=policy-refused file=%s reason=\"%s; what was in force stays\"", path,
                  failure);
    else
        log_info("event=policy-read file=%s", path);
    snprintf(state, sizeof(state), "READY=1\nSTATUS=%s %.120s%s%s",
             failure ? "serving; not in force:" : "serving; read again:", path, failure ? ": " : "",
             failure ? failure : "");
    if (server->phase > PHASE_STARTING)
        notify_send(state);
}

static void reading_done(struct watch *watch, uint32_t events)
{
    struct policy_reading *reading = container_of(watch, struct policy_reading, done);
    struct server *server = reading->server;
    bool again = server->reading_again;
    uint64_t count;

    (void)events;
    if (read(watch->fd, &count, sizeof(count)) != sizeof(count))
        return;
    server->reading = NULL;
    server->reading_again = false;
    if (server->phase < PHASE_STOPPING) {
        bool good = reading->good && apply(server, reading);
        reload_tell(server, good ? NULL : reading->error);
    }
    reading_free(reading);
    if (again)
        policy_file_reload(server);
}

static void *reading_run(void *argument)
{
    struct policy_reading *reading = argument;
    int fd = reading->done.fd;
    uint64_t one = 1;

    reading->good =
        policy_load(&reading->settings, &reading->policy, reading->path, NULL, reading->error);
    /* From this write on the loop owns the reading. */
    ssize_t n = write(fd, &one, sizeof(one));
    (void)n;
    return NULL;
}

void policy_file_reload(struct server *server)
{
    char state[64];
    struct policy_reading *reading;
    pthread_t thread;
    int r;

    if (!server->options.policy_file || server->phase >= PHASE_STOPPING)
        return;
    if (server->reading) { /* the file may have changed since that reading began */
        server->reading_again = true;
        return;
    }
    snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
             (unsigned long long)(clock_ns() / 1000));
    if (server->phase > PHASE_STARTING)
        notify_send(state);
    reading = calloc(1, sizeof(*reading));
    if (!reading) {
        reload_tell(server, "no memory to read it");
        return;
    }
    *reading = (struct policy_reading){.server = server,
                                       .path = server->options.policy_file,
                                       .done.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    r = reading->done.fd < 0
            ? -errno
            : watch_add(&server->loop, &reading->done, reading->done.fd, EPOLLIN, reading_done);
    if (r == 0)
        r = server_thread_start(&thread, reading_run, reading);
    if (r < 0) {
        reload_tell(server, strerror(-r));
        reading_free(reading);
        return;
    }
    pthread_detach(thread); /* a name service that does not answer must not delay the server's
                               end */
    server->reading = reading;
}

/* A reading that goes on is left to its thread, which ends with the process. */
void policy_file_deinit(struct server *server)
{
    if (server->reading)
        watch_remove(&server->loop, &server->reading->done);
}
