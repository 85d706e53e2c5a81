/* segment.c - see segment.h. */
#include "server/session/segment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "common/numa.h"
#include "common/segment.h"
#include "common/status.h"
#include "common/unfinished.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"

static struct seg_server *server_part(const struct session *session)
{
    return (struct seg_server *)(void *)(session->segment + SEG_OFF_SERVER);
}

/* Returns whether the session's segment is gone, with all processes that had it attached. */
static bool segment_gone(const struct session *session)
{
    return !session->segment;
}

static int segment_new(struct session *session)
{
    void *memory;
    int r = segment_begin(SEG_SIZE, S_IRUSR | S_IWUSR, session->uid, &session->segment_id, &memory);

    if (r < 0)
        return r;
    r = segment_keep_from_forks(memory, SEG_SIZE);
    if (r < 0) {
        segment_mark(session->segment_id);
        return r;
    }
    session->segment = memory;
    numa_prefer(memory, SEG_SIZE, session->device->info.numa_node);
    session->segment_kept = SEGMENT_NOT_KEPT;
    return 0;
}

int session_segment_restore(struct session *session)
{
    session->segment = segment_attach(session->segment_id, SEG_SIZE);
    return session->segment ? 0 : -errno;
}

/* The pool is used only while the worker is ready, since the present worker keeps the pool's
 * segments. */
int session_segment_init(struct session *session)
{
    struct device *device = session->device;
    struct pooled_segment segment;

    if (device->worker.state != WORKER_READY ||
        !segment_pool_take(&device->segments, session->uid, &segment))
        return segment_new(session);
    session->segment_id = segment.id;
    session->segment = segment.memory;
    session->segment_kept = SEGMENT_KEPT;
    return 0;
}

void session_segment_fill(struct session *session)
{
    struct seg_info *info = (struct seg_info *)(void *)(session->segment + SEG_OFF_INFO);
    const struct link_device *device = &session->device->info;

    info->magic = WIRE_MAGIC;
    info->version = WIRE_VERSION;
    info->session_id = session->id;
    info->server_pid = session->server->status.page->server_pid;
    info->device = session->device->index;
    info->device_memory = device->memory_total;
    info->mem_limit = session->mem_limit;
    info->window_base = session->window_base;
    info->window_size = session->window_size;
    info->compute_major = device->compute_major;
    info->compute_minor = device->compute_minor;
    info->sm_count = device->sm_count;
    info->max_threads_per_block = device->max_threads_per_block;
    memcpy(info->max_block_dim, device->max_block_dim, sizeof(info->max_block_dim));
    memcpy(info->max_grid_dim, device->max_grid_dim, sizeof(info->max_grid_dim));
    info->max_dynamic_smem = device->max_dynamic_smem;
    info->sm_granularity = device->sm_granularity;
    info->slot = session->slot;
    info->fenced = session->fenced;
    memcpy(info->device_name, device->name, sizeof(info->device_name));
    memcpy(info->bell, session->device->bell, sizeof(info->bell));
    memcpy(info->sm_group, device->sm_group, sizeof(info->sm_group));
    memcpy(info->device_uuid, device->uuid, sizeof(info->device_uuid));
    memcpy(info->attribute, device->attribute, sizeof(info->attribute));
    info->device_count = session->server->device_count;
    /* The segment was not marked before, since the supervisor may have been the only process to
     * have it attached, and may have been killed. */
    segment_mark(session->segment_id);
    /* release: the info before the state; the client learns of the segment only by the reply. */
    atomic_store_explicit(&server_part(session)->state, SEG_OPEN, memory_order_release);
}

bool session_segment_open(const struct session *session)
{
    return !segment_gone(session) &&
           atomic_load_explicit(&server_part(session)->state, memory_order_relaxed) == SEG_OPEN;
}

/* Writes the text for a session that is not to blame. It names the culprit only if that is of the
 * same user. */
static void victim_describe(char text[], size_t size, const struct session *session,
                            const char *why)
{
    const struct culprit *culprit = device_culprit(session->device);

    if (!culprit)
        snprintf(text, size, "the device was lost: %.150s", why);
    else if (culprit->uid == session->uid && culprit->kept_out)
        snprintf(text, size,
                 "session %llu (pid %d) lost the device while its user was kept out: %.90s",
                 (unsigned long long)culprit->session_id, (int)culprit->pid, why);
    else if (culprit->uid == session->uid)
        snprintf(text, size, "session %llu (pid %d, %s) lost the device: %s",
                 (unsigned long long)culprit->session_id, (int)culprit->pid, culprit->name, why);
    else
        snprintf(text, size, "another user's tenant lost the device: %.140s", why);
}

static bool to_blame(const struct session *session, const struct link_fatal *fatal)
{
    return fatal && session->device->culprit.session_id == session->id;
}

struct seg_fault session_verdict(const struct session *session, const struct link_fatal *fatal,
                                 const char *why)
{
    const bool blamed = to_blame(session, fatal);
    struct seg_fault fault = {.kind = GS_FAULT_DEVICE, .status = GS_ERR_INTERRUPTED};

    if (blamed) {
        fault.kind = fatal->kind <= GS_FAULT_STRAY ? fatal->kind : GS_FAULT_DEVICE;
        fault.status = status_is_error(fatal->status) ? fatal->status : GS_ERR_FAULT;
        fault.stream = fatal->stream;
        fault.position = fatal->position;
        fault.launch = fatal->launch;
        memcpy(fault.kernel, fatal->kernel, sizeof(fault.kernel));
        fault.kernel[sizeof(fault.kernel) - 1] = 0;
    }
    /* Other sessions are not told the kernel's name. */
    if (fault.kernel[0])
        snprintf(fault.message, sizeof(fault.message), "kernel %s: %.110s", fault.kernel, why);
    else if (blamed)
        snprintf(fault.message, sizeof(fault.message), "%.150s", why);
    else
        victim_describe(fault.message, sizeof(fault.message), session, why);
    if (!segment_gone(session))
        unfinished_tell(session->segment, &fault);
    return fault;
}

/* Tells the client of an open session how the session has ended. A fault that the worker has
 * written before stays. */
static void fault_publish(const struct session *session, const struct seg_fault *fault,
                          uint32_t state)
{
    struct seg_server *shared = server_part(session);
    uint32_t open = SEG_OPEN;

    shared->fault = *fault;
    /* Release: the fault before the state that points to it; the pair is the client's acquire. */
    atomic_compare_exchange_strong_explicit(&shared->state, &open, state, memory_order_release,
                                            memory_order_relaxed);
    futex_wake(&shared->state);
}

void session_segment_fault(struct session *session, const struct link_fatal *fatal, const char *why)
{
    struct seg_fault fault;

    if (!session_segment_open(session))
        return;
    fault = session_verdict(session, fatal, why);
    fault_publish(session, &fault, to_blame(session, fatal) ? SEG_FAULTED : SEG_LOST);
}

void session_segment_end(struct session *session, const char *why)
{
    struct seg_fault fault = {.kind = GS_FAULT_EVICTED, .status = GS_ERR_INTERRUPTED};

    if (!session_segment_open(session))
        return;
    snprintf(fault.message, sizeof(fault.message), "%s", why);
    unfinished_tell(session->segment, &fault);
    fault_publish(session, &fault, SEG_LOST);
}

void session_segment_drop(struct device *device, int id)
{
    struct link_message message = {.op = LINK_SEGMENT_DROP, .slot = LINK_SLOT_NONE};

    message.u.segment_id = id;
    worker_send(device, &message);
}

/* Puts the segment into the pool, for a next session of the same user. */
static void segment_keep(const struct session *session)
{
    const struct pooled_segment segment = {session->segment_id, session->uid, session->segment};
    int dropped;

    if (segment_pool_put(&session->device->segments, &segment, &dropped))
        session_segment_drop(session->device, dropped);
}

void session_segment_deinit(struct session *session)
{
    const bool ready = session->device->worker.state == WORKER_READY;
    struct seg_server *shared;

    segment_mark(session->segment_id);
    if (segment_gone(session))
        return;
    shared = server_part(session);

    /* gs_detach waits for this word: all that the session held is free now. */
    atomic_store_explicit(&shared->state, SEG_CLOSED, memory_order_release);
    futex_wake(&shared->state);
    if (ready && session->segment_kept == SEGMENT_IN_DOUBT)
        session_segment_drop(session->device, session->segment_id);
    if (ready && session->segment_kept == SEGMENT_KEPT)
        segment_keep(session);
    else
        shmdt(session->segment);
    session->segment = NULL;
}
