/*
 * tenant.c - a session's life between its client and its worker.
 *
 *   WAITING --> OPENING --> OPEN --> CLOSING --> (free)
 *                             \--> LOST -------> (free)      when the worker is gone
 *
 * Writes into the tenant's segment, and never reads it but to swap the state word.
 */
#include "server/tenant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

#include "common/log.h"
#include "common/names.h"
#include "common/util.h"

/* An answer has so long to reach its client, who may have to wait for a processor: a quarter of the
 * client's patience, but no more than this. */
#define ANSWER_SPARE_NS 2000000000u

static struct seg_server *segment_server(const struct tenant *tenant)
{
    return (struct seg_server *)(void *)(tenant->segment + SEG_OFF_SERVER);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The attach is answered now, whatever becomes of the session. */
static void answer_fire(struct timer *timer)
{
    struct tenant *tenant = container_of(timer, struct tenant, answer_by);
    char text[REFUSAL_TEXT_MAX];

    grants_describe_wait(tenant, text);
    if (tenant->state == TENANT_WAITING) {
        tenant_refuse(tenant, GS_ERR_TIMEOUT, text);
        return;
    }
    reply_refuse(&tenant->reply, GS_ERR_TIMEOUT, "%s", text);
    reply_close(&tenant->reply);
    tenant_close(tenant);
}

void tenant_expect(struct tenant *tenant, uint64_t patience_ns)
{
    const uint64_t now = clock_ns();
    uint64_t spare = patience_ns / 4;

    if (patience_ns == 0)
        return;
    if (spare > ANSWER_SPARE_NS)
        spare = ANSWER_SPARE_NS;
    tenant->give_up_ns = now + patience_ns - spare;
    timer_set(&tenant->server->loop, &tenant->answer_by, now + patience_ns - spare / 2,
              answer_fire);
}

void tenant_open(struct tenant *tenant)
{
    struct link_message message = {.op = LINK_OPEN, .slot = tenant->slot};

    tenant->state = TENANT_OPENING;
    message.u.open = (struct link_open){.segment_id = tenant->segment_id,
                                        .uid = tenant->uid,
                                        .session_id = tenant->id,
                                        .give_up_ns = tenant->give_up_ns,
                                        .grant = tenant->grant.sent};
    memcpy(message.u.open.name, tenant->name, sizeof(message.u.open.name));
    worker_send(tenant->device, &message);
}

static void segment_fill(struct tenant *tenant, const struct link_opened *opened)
{
    struct seg_info *info = (struct seg_info *)(void *)(tenant->segment + SEG_OFF_INFO);
    const struct link_device *device = &tenant->device->info;

    info->magic = WIRE_MAGIC;
    info->version = WIRE_VERSION;
    info->session_id = tenant->id;
    info->server_pid = tenant->server->status.page->server_pid;
    info->device = tenant->device->index;
    info->device_memory = device->memory_total;
    info->mem_limit = opened->mem_limit;
    info->window_base = opened->window_base;
    info->window_size = opened->window_size;
    info->compute_major = device->compute_major;
    info->compute_minor = device->compute_minor;
    info->sm_count = device->sm_count;
    info->max_threads_per_block = device->max_threads_per_block;
    memcpy(info->max_block_dim, device->max_block_dim, sizeof(info->max_block_dim));
    memcpy(info->max_grid_dim, device->max_grid_dim, sizeof(info->max_grid_dim));
    info->max_dynamic_smem = device->max_dynamic_smem;
    info->sm_granularity = device->sm_granularity;
    info->slot = tenant->slot;
    memcpy(info->device_name, device->name, sizeof(info->device_name));
    memcpy(info->bell, tenant->device->bell, sizeof(info->bell));
    memcpy(info->sm_group, device->sm_group, sizeof(info->sm_group));
    /* Release: the info before the state; the client learns of the segment only by the reply. */
    atomic_store_explicit(&segment_server(tenant)->state, SEG_OPEN, memory_order_release);
}

static bool tenant_answer(struct tenant *tenant)
{
    struct ctl_attach_reply answer = {.status = GS_OK,
                                      .segment_id = tenant->segment_id,
                                      .status_page_id = tenant->server->status.id,
                                      .session_id = tenant->id,
                                      .cookie = tenant->cookie,
                                      .segment_size = SEG_SIZE};
    bool sent = reply_send(&tenant->reply, &answer.h, sizeof(answer));

    reply_close(&tenant->reply);
    return sent;
}

void tenant_refuse(struct tenant *tenant, gs_status status, const char *text)
{
    log_debug("session %llu of uid %u refused: %s", (unsigned long long)tenant->id,
              (unsigned)tenant->uid, text);
    reply_refuse(&tenant->reply, status, "%s", text);
    tenant_end(tenant);
}

bool tenant_opened(struct tenant *tenant, const struct link_opened *opened, const char *text)
{
    struct shmid_ds ds;

    if (tenant->state != TENANT_OPENING)
        return false;
    timer_cancel(&tenant->server->loop, &tenant->answer_by);
    if (opened->status != GS_OK) {
        bool known = opened->status > GS_NOT_READY && opened->status <= GS_ERR_PROTOCOL;
        tenant_refuse(tenant, known ? (gs_status)opened->status : GS_ERR_PROTOCOL, text);
        return true;
    }
    tenant->state = TENANT_OPEN;
    tenant->mem_limit = opened->mem_limit;
    tenant->window_size = opened->window_size;
    grants_opened(tenant);
    if (tenant->close_wanted) { /* nobody waits for the answer */
        tenant_close(tenant);
        return true;
    }
    if (shmctl(tenant->segment_id, IPC_STAT, &ds) < 0) {
        reply_refuse(&tenant->reply, GS_ERR_SYSTEM, "looking at the session segment: %s",
                     strerror(errno));
        tenant_close(tenant);
        return true;
    }
    tenant->attached_base = ds.shm_nattch;
    segment_fill(tenant, opened);
    if (!tenant_answer(tenant)) {
        tenant_close(tenant);
        return true;
    }
    liveness_expect(tenant);
    log_debug("session %llu of uid %u (%s) is open on device %d", (unsigned long long)tenant->id,
              (unsigned)tenant->uid, tenant->name, tenant->device->index);
    return true;
}

/* As the worker does: no more than the device has, or the session has addresses for. */
void tenant_limited(struct tenant *tenant)
{
    uint64_t limit = tenant->grant.applied.mem_limit, total = tenant->device->info.memory_total;

    if (limit == 0 || limit > total)
        limit = total;
    tenant->mem_limit = limit < tenant->window_size ? limit : tenant->window_size;
}

/* ---- Closing --------------------------------------------------------------------------------- */

void tenant_close(struct tenant *tenant)
{
    struct link_message message = {.op = LINK_CLOSE, .slot = tenant->slot};

    switch (tenant->state) {
    case TENANT_OPENING:
        tenant->close_wanted = true;
        break;
    case TENANT_OPEN:
        liveness_end(tenant);
        wishes_end(tenant, GS_ERR_INVALID_HANDLE, "the session is ending");
        tenant->state = TENANT_CLOSING;
        worker_send(tenant->device, &message);
        break;
    case TENANT_WAITING:
    case TENANT_LOST:
        tenant_end(tenant);
        break;
    case TENANT_CLOSING:
    case TENANT_FREE:
        break;
    }
}

bool tenant_closed(struct tenant *tenant)
{
    if (tenant->state != TENANT_CLOSING)
        return false;
    tenant_end(tenant);
    return true;
}

bool tenant_has_memory(const struct tenant *tenant)
{
    return tenant->state == TENANT_OPENING || tenant->state == TENANT_OPEN ||
           tenant->state == TENANT_CLOSING;
}

void tenant_end(struct tenant *tenant)
{
    struct server *server = tenant->server;
    struct seg_server *shared = segment_server(tenant);

    log_debug("session %llu has ended", (unsigned long long)tenant->id);
    timer_cancel(&server->loop, &tenant->answer_by);
    liveness_end(tenant);
    wishes_end(tenant, GS_ERR_INVALID_HANDLE, "the session has ended");
    grants_forget(tenant);
    reply_close(&tenant->reply);
    vault_deinit(&tenant->vault);
    /* gs_detach waits for this word: what the session held is free now. */
    atomic_store_explicit(&shared->state, SEG_CLOSED, memory_order_release);
    futex_wake(&shared->state);
    shmdt(tenant->segment);
    tenant->segment = NULL;
    struct device *device = tenant->device;
    device->tenants--;
    registry_give(&server->registry, tenant);
    device_renew(device);
    server_progress(server);
}

/* ---- Loss of the worker ---------------------------------------------------------------------- */

/* The fault is written before the state that points to it; the pair is the client's acquire load. A
 * fault that the dispatcher wrote before stays. */
static void segment_fault(struct tenant *tenant, const struct link_fatal *fatal, bool blamed,
                          const char *why)
{
    struct seg_server *shared = segment_server(tenant);
    uint32_t open = SEG_OPEN;
    struct seg_fault fault = {.kind = GS_FAULT_DEVICE, .status = GS_ERR_INTERRUPTED};

    if (atomic_load_explicit(&shared->state, memory_order_relaxed) != SEG_OPEN)
        return;
    if (blamed) {
        bool known = fatal->status > GS_NOT_READY && fatal->status <= GS_ERR_PROTOCOL;
        fault.kind = fatal->kind <= GS_FAULT_LAUNCH ? fatal->kind : GS_FAULT_DEVICE;
        fault.status = known ? fatal->status : GS_ERR_FAULT;
        fault.stream = fatal->stream;
        fault.position = fatal->position;
        memcpy(fault.kernel, fatal->kernel, sizeof(fault.kernel));
        fault.kernel[sizeof(fault.kernel) - 1] = 0;
    }
    /* The others are not told whose kernel it was. */
    if (fault.kernel[0])
        snprintf(fault.message, sizeof(fault.message), "kernel %s: %.110s", fault.kernel, why);
    else
        snprintf(fault.message, sizeof(fault.message), "%s%.150s",
                 blamed ? "" : "the device was lost: ", why);
    shared->fault = fault;
    atomic_compare_exchange_strong_explicit(&shared->state, &open, blamed ? SEG_FAULTED : SEG_LOST,
                                            memory_order_release, memory_order_relaxed);
    futex_wake(&shared->state);
}

void tenant_worker_lost(struct tenant *tenant, const struct link_fatal *fatal, bool blamed,
                        const char *why)
{
    switch (tenant->state) {
    case TENANT_OPENING:
        tenant_refuse(tenant, GS_ERR_NO_DEVICE, why);
        break;
    case TENANT_OPEN:
        segment_fault(tenant, fatal, blamed, why);
        wishes_end(tenant, GS_ERR_INTERRUPTED, "the device was lost");
        grants_forget(tenant);
        vault_deinit(&tenant->vault); /* a standby would be given these */
        tenant->state = TENANT_LOST;
        tenant->attached_base = 1; /* ours */
        break;
    case TENANT_CLOSING:
        tenant_end(tenant);
        break;
    case TENANT_WAITING:
    case TENANT_LOST:
    case TENANT_FREE:
        break;
    }
}
