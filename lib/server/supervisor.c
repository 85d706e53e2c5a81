/* supervisor.c - see supervisor.h. */
#include "server/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/machine_memory.h"
#include "common/names.h"
#include "common/util.h"
#include "server/base/descriptor_notes.h"
#include "server/base/leftovers.h"
#include "server/base/notify.h"
#include "server/control/control.h"
#include "server/keeper.h"
#include "server/policy_file.h"
#include "server/reconcile/changes.h"
#include "server/reconcile/reconcile.h"
#include "server/restore.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/trace.h"
#include "server/signals.h"
#include "server/state/settings_fit.h"
#include "server/workers/ending.h"
#include "server/workers/heartbeat.h"
#include "server/workers/process.h"
#include "server/workers/restart.h"
#include "server/workers/standby.h"

/* ---- Settings -------------------------------------------------------------------------------- */

#define STATE_TRIES   400
#define STATE_WAIT_NS 5000000

/* A killed server's supervisor, or a process that it was about to start, may still hold the file
 * for a moment. */
static int state_take_patiently(const char *path, char error[STATE_ERROR_MAX])
{
    int held;

    for (int i = 0; (held = state_take(path, error)) < 0 && errno == EWOULDBLOCK && i < STATE_TRIES;
         i++)
        nanosleep(&(struct timespec){0, STATE_WAIT_NS}, NULL);
    return held;
}

/* Takes the state file, and loads the settings that a former server kept unless `loaded`. Neither a
 * broken file nor another server's is overwritten. */
static bool state_init(struct server *server, bool loaded)
{
    const char *path = server->options.state_file;
    char error[STATE_ERROR_MAX];
    int held = path ? state_take_patiently(path, error) : -1, r;

    if (path && (held < 0 || (!loaded && !state_load(&server->settings, path, error)))) {
        if (held >= 0)
            close(held);
        server_fail(server, "state file %.80s: %.150s", path, error);
        return false;
    }
    r = state_writer_init(&server->state, &server->loop, path, held);
    if (r < 0)
        server_fail(server, "writing the state file: %s", strerror(-r));
    else if (loaded) /* the last change may not have been written */
        state_writer_write(&server->state, &server->settings);
    return r == 0;
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Raises the limit on descriptors, since the vault holds one for each piece of sessions' memory. */
static void descriptors_raise(struct server *server)
{
    struct rlimit limit = {1024, 1024}, more;

    getrlimit(RLIMIT_NOFILE, &limit);
    more.rlim_cur = more.rlim_max = limit.rlim_max > 1048576 ? limit.rlim_max : 1048576;
    if (setrlimit(RLIMIT_NOFILE, &more) == 0) {
        limit = more;
    } else {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    server->descriptors_max = limit.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)limit.rlim_cur;
}

static void name_taken(struct server *server, const char *name)
{
    server_fail(server, "the queue %s is another user's; choose another --instance", name);
}

/* Reads the machine's limits that all users share. 4096 is the kernel's default. */
static void machine_look(struct server *server)
{
    FILE *file = fopen("/proc/sys/kernel/shmmni", "re");

    server->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    server->host_memory = machine_memory();
    server->segments_max = 4096;
    if (file && fscanf(file, "%u", &server->segments_max) != 1)
        server->segments_max = 4096;
    if (file)
        fclose(file);
}

/* Takes the instance's lock, or fails with a message of who has it. */
static bool lock_init(struct server *server)
{
    const char *instance = server->options.instance;
    int r;

    name_lock(server->lock_name, geteuid(), instance);
    r = control_lock_take(server->lock_name, &server->lock);
    if (r == -EBUSY)
        server_fail(server, "a server '%s' already runs", instance);
    else if (r == -EPERM)
        name_taken(server, server->lock_name);
    else if (r < 0)
        server_fail(server, "queue %s: %s", server->lock_name, strerror(-r));
    return r == 0;
}

static bool control_init(struct server *server, mode_t mode)
{
    const char *instance = server->options.instance;
    int r;

    if (!lock_init(server))
        return false;
    leftovers_remove(instance, DEVICES_MAX);
    name_control(server->control_name, geteuid(), instance);
    r = control_queue_make(server->control_name, mode, &server->control.fd);
    if (r == -EPERM)
        name_taken(server, server->control_name);
    else if (r < 0)
        server_fail(server, "control queue %s: %s", server->control_name, strerror(-r));
    return r == 0;
}

static bool control_watch(struct server *server)
{
    const mqd_t queue = server->control.fd;
    int r = watch_add(&server->loop, &server->control, queue, EPOLLIN, control_ready);

    if (r == 0)
        return true;
    server_fail(server, "watching the control queue: %s", strerror(-r));
    server->control.fd = queue;
    return false;
}

static mode_t queue_mode(const struct server_options *options)
{
    return server_serves_others(options) ? 0622 : 0600;
}

/* Adds a device, whose worker is not started yet. */
static bool device_add(struct server *server)
{
    struct device *device = &server->device[server->device_count];
    int r;

    device_init(device, server, server->device_count++);
    r = device_bell_open(device, queue_mode(&server->options));
    if (r < 0)
        server_fail(server, "doorbell queue %s: %s", device->bell, strerror(-r));
    return r == 0;
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Stops the server when the sessions' time is over: clients learn it from the status page, and
 * workers are told to quit. */
static void server_stop(struct server *server)
{
    if (server->phase >= PHASE_STOPPING)
        return;
    server->phase = PHASE_STOPPING;
    timer_cancel(&server->loop, &server->drain);
    notify_send("STOPPING=1\nSTATUS=ending");
    if (server->registry.count)
        log_info("event=ending tenants=%u", server->registry.count);
    status_page_end(&server->status);
    for (int i = 0; i < server->device_count; i++)
        worker_quit(&server->device[i]);
}

static bool workers_all(const struct server *server, enum worker_state state)
{
    for (int i = 0; i < server->device_count; i++) {
        if (server->device[i].worker.state != state)
            return false;
    }
    return true;
}

/* Adds the driver's other devices, once the first one is ready, if all are to be served. */
static void devices_find(struct server *server)
{
    const uint32_t count = server->device[0].info.device_count;

    if (server->options.devices != DEVICES_ALL || server->device_count != 1 ||
        server->device[0].worker.state != WORKER_READY)
        return;
    if (count > DEVICES_MAX)
        log_warning("event=devices-left-out devices=%u limit=%d", count, DEVICES_MAX);
    for (uint32_t i = 1; i < count && i < DEVICES_MAX && device_add(server);)
        i++;
    for (int i = 1; i < server->device_count && server->failure[0] == 0; i++)
        worker_start(&server->device[i]);
}

static void ready_notify(const struct server *server)
{
    const struct link_device *info = &server->device[0].info;
    char state[160];

    snprintf(state, sizeof(state), "READY=1\nSTATUS=serving: %d device%s, the first: %.60s, %.30s",
             server->device_count, server->device_count == 1 ? "" : "s", info->name, info->driver);
    notify_send(state);
}

static void starting_advance(struct server *server)
{
    devices_find(server);
    if (server->failure[0] || !workers_all(server, WORKER_READY))
        return;
    server->phase = PHASE_SERVING;
    settings_fit_log_absent(server);
    server->on_ready(server);
    ready_notify(server);
}

/* Only wakes the loop, which checks the time in each round. */
static void drain_fire(struct timer *timer)
{
    (void)timer;
}

/* Returns whether there is a session to wait for. A session that an operator or a fault has ended
 * is kept only until its client notices, so it does not count. */
static bool sessions_live(const struct server *server)
{
    for (const struct session *s = NULL; (s = registry_next(&server->registry, s));) {
        if (s->state != SESSION_LOST)
            return true;
    }
    return false;
}

/* Advances the end of the server: it stops at once, or when the sessions have gone or used up their
 * time. */
static void ending_advance(struct server *server)
{
    if (server->failure[0] || server->phase == PHASE_STARTING || !sessions_live(server) ||
        clock_ns() >= server->end_by_ns) {
        server_stop(server);
        return;
    }
    server->phase = PHASE_DRAINING;
    if (server->end_by_ns != UINT64_MAX && server->drain.due_ns != server->end_by_ns)
        timer_set(&server->loop, &server->drain, server->end_by_ns, drain_fire);
}

static void device_keep(struct device *device)
{
    heartbeat_keep(device);
    worker_keep(device);
    restart_keep(device);
    standby_keep(device);
}

static void phase_advance(struct server *server)
{
    if (server->phase == PHASE_STARTING)
        starting_advance(server);
    for (int i = 0; i < server->device_count && server->phase < PHASE_STOPPING; i++)
        device_keep(&server->device[i]);
    if (server->phase < PHASE_STOPPING && (server->failure[0] || server->end_wanted))
        ending_advance(server);
    if (server->phase == PHASE_STOPPING && workers_all(server, WORKER_NONE))
        server->phase = PHASE_ENDED;
}

/* ---- The whole ------------------------------------------------------------------------------- */

bool server_prepare(struct server *server, const struct server_options *options,
                    void (*on_ready)(struct server *server))
{
    int r;

    *server = (struct server){.options = *options,
                              .loop = LOOP_INIT,
                              .lock = -1,
                              .control.fd = -1,
                              .signals.fd = -1,
                              .on_ready = on_ready,
                              .started_ns = clock_ns()};
    descriptors_raise(server);
    machine_look(server);
    if (!policy_file_init(server))
        return false;
    r = status_page_init(&server->status, server->options.instance,
                         server_serves_others(&server->options));
    if (r < 0)
        server_fail(server, "the status page: %s", strerror(-r));
    return r == 0;
}

/* Makes what belongs to this process instead of to the memory that supervisors share. */
static bool process_init(struct server_memory *memory)
{
    struct server *server = &memory->server;
    int r = loop_init(&server->loop);

    if (r == 0)
        r = signals_init(server);
    if (r < 0) {
        server_fail(server, "starting: %s", strerror(-r));
        return false;
    }
    descriptor_notes_init(&memory->notes);
    server->committed = &memory->committed;
    if (!registry_init(&server->registry, server->options.max_tenants, memory->session)) {
        server_fail(server, "no memory for %u tenants", server->options.max_tenants);
        return false;
    }
    announcements_init(&server->announcements, &server->loop, server->options.instance);
    return true;
}

/* Makes the queues and settings that only a server's first supervisor makes, and starts the
 * workers. */
static void first_init(struct server *server)
{
    if (!control_init(server, queue_mode(&server->options)) || !control_watch(server) ||
        !state_init(server, false))
        return;
    do {
        if (!device_add(server))
            return;
    } while (server->device_count < server->options.devices);
    server_commit(server, 0);
    for (int i = 0; i < server->device_count && server->failure[0] == 0; i++)
        worker_start(&server->device[i]);
}

bool server_init(struct server_memory *memory, bool again)
{
    struct server *server = &memory->server;

    server->failure[0] = '\0'; /* left by a supervisor that could not begin */
    if (again)
        server_restore_begin(memory);
    if (server->failure[0] == 0 && process_init(memory)) {
        if (!again)
            first_init(server);
        else if (control_watch(server) && state_init(server, true))
            server_restore(memory);
    }
    if (server->failure[0] == 0)
        return true;
    if (!again) { /* a supervisor that took over leaves all to the next one */
        server_stop(server);
        server_deinit(server);
    }
    return false;
}

bool server_run(struct server *server)
{
    while (server->phase != PHASE_ENDED) {
        int r = loop_round(&server->loop);

        if (r < 0) {
            server_fail(server, "epoll_wait: %s", strerror(-r));
            server_stop(server);
            break;
        }
        reconcile(server);
        phase_advance(server);
    }
    return server->failure[0] == 0;
}

/* Ends the server. The lock is released last, since no other server may take the names while it is
 * held. */
void server_deinit(struct server *server)
{
    status_page_end(&server->status);
    /* The sessions' totals are lost with the workers, so they are logged first. */
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));)
        session_detached_log(s);
    for (int i = 0; i < server->device_count; i++) {
        restart_deinit(&server->device[i]);
        device_trace_end(&server->device[i]);
        worker_kill(&server->device[i]);
    }
    /* The end of a loan's last holder queues messages for the devices' workers (loans.h), so the
     * sessions end before the devices. */
    for (struct session *s = NULL; (s = registry_next(&server->registry, s));)
        server_session_end(s);
    for (int i = 0; i < server->device_count; i++)
        device_deinit(&server->device[i]);
    reaper_deinit(&server->reaper, &server->loop);
    registry_deinit(&server->registry);
    changes_deinit(server);
    state_writer_deinit(&server->state, &server->loop);
    policy_file_deinit(server);
    announcements_deinit(&server->announcements);
    if (server->control.fd >= 0) {
        mq_unlink(server->control_name);
        mq_close(server->control.fd);
    }
    if (server->lock >= 0) {
        mq_unlink(server->lock_name);
        mq_close(server->lock);
    }
    if (server->signals.fd >= 0)
        close(server->signals.fd);
    loop_deinit(&server->loop);
}
