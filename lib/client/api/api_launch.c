/*
 * api_launch.c - launching kernels, and the reports of launches.
 *
 * gs_launch is the hot path: it makes no system call and no allocation, and takes one lock, the
 * stream's, which keeps the kernel alive (session.h).
 */
#include <string.h>

#include "client/base/backoff.h"
#include "client/base/error.h"
#include "client/base/params.h"
#include "client/control/occupancy.h"
#include "client/control/qos.h"
#include "client/submit/submit.h"
#include "client/submit/wait.h"
#include "common/util.h"

/* ---- Checks ---- */

static gs_status dimension_check(const char *what, const gs_dim3 *size, const uint32_t max[3])
{
    const unsigned value[3] = {size->x, size->y, size->z};

    for (unsigned i = 0; i < 3; i++) {
        if (value[i] == 0 || value[i] > max[i])
            return error_set(GS_ERR_LAUNCH_CONFIG, "%s.%c is %u, not 1 to %u", what, "xyz"[i],
                             value[i], max[i]);
    }
    return GS_OK;
}

static bool names_clusters(const gs_launch_config *config)
{
    return config->cluster.x || config->cluster.y || config->cluster.z;
}

static gs_status clusters_check(const struct kernel *kernel, const gs_launch_config *config)
{
    const uint32_t grid[3] = {config->grid.x, config->grid.y, config->grid.z};
    const uint16_t *own = kernel->info.cluster;
    gs_dim3 size = {own[0], own[1], own[2]};
    struct wire_cluster cluster;

    if (names_clusters(config)) {
        size = config->cluster;
        if (own[0] && (size.x != own[0] || size.y != own[1] || size.z != own[2]))
            return error_set(GS_ERR_LAUNCH_CONFIG,
                             "kernel %.64s has clusters of %u x %u x %u blocks, and no others",
                             kernel->name, own[0], own[1], own[2]);
    } else if (!own[0]) {
        if (!(kernel->info.flags & REQ_KERNEL_IN_CLUSTERS))
            return GS_OK;
        return error_set(GS_ERR_LAUNCH_CONFIG,
                         "kernel %.64s runs in clusters: the launch has to name their size "
                         "(gs_launch_config.cluster)",
                         kernel->name);
    }
    cluster = cluster_of_sides(size.x, size.y, size.z);
    if (size.x > UINT16_MAX || size.y > UINT16_MAX || size.z > UINT16_MAX ||
        !cluster_blocks(&cluster, grid))
        return error_set(GS_ERR_LAUNCH_CONFIG,
                         "clusters of %u x %u x %u blocks do not divide the grid of %u x %u x %u, "
                         "or have more than %u blocks",
                         size.x, size.y, size.z, grid[0], grid[1], grid[2], GS_CLUSTER_BLOCKS);
    return GS_OK;
}

static gs_status config_check(const struct session *session, const struct kernel *kernel,
                              const gs_launch_config *config)
{
    uint32_t threads_max = kernel->info.max_threads_per_block;
    uint64_t threads;
    gs_status status = dimension_check("grid", &config->grid, session->info.max_grid_dim);

    if (status == GS_OK)
        status = dimension_check("block", &config->block, session->info.max_block_dim);
    if (status != GS_OK)
        return status;
    if (threads_max > session->info.max_threads_per_block)
        threads_max = session->info.max_threads_per_block;
    /* The product cannot overflow, because each factor is within the device's limits. */
    threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    if (threads > threads_max)
        return error_set(GS_ERR_LAUNCH_CONFIG,
                         "a block of %llu threads is beyond the %u that kernel %.64s can have on "
                         "this device",
                         (unsigned long long)threads, threads_max, kernel->name);
    if (config->dynamic_smem > kernel->info.max_dynamic_smem)
        return error_set(GS_ERR_LAUNCH_CONFIG,
                         "dynamic_smem of %u bytes is beyond the %u that kernel %.64s can have",
                         config->dynamic_smem, kernel->info.max_dynamic_smem, kernel->name);
    status = clusters_check(kernel, config);
    if (status != GS_OK)
        return status;
    if (!config->cooperative && kernel->info.flags & REQ_KERNEL_SYNCS_GRID)
        return error_set(GS_ERR_LAUNCH_CONFIG,
                         "kernel %.64s synchronises its grid: it needs a cooperative launch "
                         "(gs_launch_config.cooperative)",
                         kernel->name);
    return GS_OK;
}

static gs_status args_check(const struct kernel *kernel, const gs_launch_config *config,
                            void *const *args)
{
    uint32_t count = kernel->info.param_count;

    if (config->arg_count && config->arg_count != count)
        return error_set(GS_ERR_PARAMS, "arg_count is %u; kernel %.64s has %u parameters",
                         config->arg_count, kernel->name, count);
    if (count && !args)
        return error_set(GS_ERR_PARAMS, "args is NULL; kernel %.64s has %u parameters",
                         kernel->name, count);
    if (!config->arg_sizes)
        return GS_OK;
    if (config->arg_count != count)
        return error_set(GS_ERR_PARAMS, "arg_sizes is given, but arg_count is %u",
                         config->arg_count);
    for (uint32_t i = 0; i < count; i++) {
        if (config->arg_sizes[i] != kernel->info.param[i].size)
            return error_set(GS_ERR_PARAMS,
                             "argument %u is %zu bytes; parameter %u of kernel %.64s is %u", i,
                             config->arg_sizes[i], i, kernel->name, kernel->info.param[i].size);
    }
    return GS_OK;
}

gs_status gs_kernel_occupancy(gs_kernel handle, unsigned threads, unsigned dynamic_smem,
                              unsigned *blocks)
{
    struct session *session;
    gs_status status;

    if (!blocks)
        return error_set(GS_ERR_INVALID_VALUE, "the pointer for the blocks is NULL");
    status = session_use(handle_decode(handle), HANDLE_KERNEL, &session);
    if (status != GS_OK)
        return status;
    status = occupancy_of(session, handle, threads, dynamic_smem, blocks);
    session_leave(session);
    return status;
}

gs_status gs_kernel_clusters(gs_kernel handle, unsigned threads, unsigned dynamic_smem,
                             gs_dim3 cluster, unsigned *clusters)
{
    struct session *session;
    gs_status status;

    if (!clusters)
        return error_set(GS_ERR_INVALID_VALUE, "the pointer for the clusters is NULL");
    if (cluster.x == 0 || cluster.x > GS_CLUSTER_BLOCKS || cluster.y == 0 ||
        cluster.y > GS_CLUSTER_BLOCKS || cluster.z == 0 || cluster.z > GS_CLUSTER_BLOCKS)
        return error_set(GS_ERR_LAUNCH_CONFIG, "clusters of %u x %u x %u blocks", cluster.x,
                         cluster.y, cluster.z);
    status = session_use(handle_decode(handle), HANDLE_KERNEL, &session);
    if (status != GS_OK)
        return status;
    status = clusters_of(session, handle, threads, dynamic_smem, &cluster, clusters);
    session_leave(session);
    return status;
}

/* Refuses a cooperative grid that does not fit the session's SMs at once, since its blocks would
 * wait for each other for ever. */
static gs_status cooperative_check(struct session *session, gs_kernel handle,
                                   const gs_launch_config *config)
{
    struct seg_grant grant;
    unsigned threads, each;
    uint64_t blocks = (uint64_t)config->grid.x * config->grid.y;
    gs_status status;

    if (__builtin_mul_overflow(config->block.x, config->block.y, &threads) ||
        __builtin_mul_overflow(threads, config->block.z, &threads))
        threads = UINT32_MAX;
    status = occupancy_of(session, handle, threads, config->dynamic_smem, &each);
    if (status == GS_OK)
        status = qos_granted(session, &grant);
    if (status != GS_OK)
        return status;
    if (__builtin_mul_overflow(blocks, config->grid.z, &blocks))
        blocks = UINT64_MAX;
    if (blocks > (uint64_t)each * grant.sm_count)
        return error_set(
            GS_ERR_LAUNCH_CONFIG,
            "a cooperative launch of %llu blocks: the session's %u SMs hold %u each at "
            "once, %llu together",
            (unsigned long long)blocks, grant.sm_count, each,
            (unsigned long long)each * grant.sm_count);
    return GS_OK;
}

/* ---- Reports ---- */

/* Opens a report for a launch that is about to be committed. */
static gs_status report_open(struct session *session, uint64_t *id)
{
    gs_status status = GS_OK;
    uint64_t next;
    struct report *report;

    pthread_mutex_lock(&session->report_lock);
    next = session->report_last + 1;
    if ((uint32_t)next == 0) /* the wire carries the low 32 bits, of which 0 means no report */
        next++;
    report = &session->report[next % SEG_REPORTS];
    if (report->asked && atomic_load_explicit(&session->server_page->report[next % SEG_REPORTS].id,
                                              memory_order_acquire) != (uint32_t)report->asked) {
        status = error_set(GS_ERR_LIMIT,
                           "%u launches with reports are unfinished or newer than one that is: "
                           "the limit",
                           SEG_REPORTS);
    } else {
        session->report_last = report->id = report->asked = next;
        *id = next;
    }
    pthread_mutex_unlock(&session->report_lock);
    return status;
}

/* Reads a report. Returns GS_NOT_READY if the server has not written it yet. */
static gs_status report_fetch(struct session *session, gs_report_id id, gs_report *out)
{
    struct report *report = &session->report[id % SEG_REPORTS];
    const struct seg_report *slot = &session->server_page->report[id % SEG_REPORTS];
    gs_report read = GS_REPORT_INIT;
    gs_status status;

    pthread_mutex_lock(&session->report_lock);
    if (!id || report->id != id) {
        status = error_set(GS_ERR_INVALID_VALUE,
                           "report %llu was never asked for, was fetched before, or was dropped "
                           "for one of %u newer ones",
                           (unsigned long long)id, SEG_REPORTS);
    } else if (atomic_load_explicit(&slot->id, memory_order_acquire) != (uint32_t)id) {
        /* acquire: pairs with the server's release of the id, which it stores last. */
        status = GS_NOT_READY;
    } else {
        /* The server writes the slot again only after report_open has given it to a newer launch,
         * which needs the lock. */
        read.sm_count = slot->sm_count;
        read.priority = slot->priority;
        read.queued_ns = slot->queued_ns;
        read.run_ns = slot->run_ns;
        read.partition = slot->partition;
        read.late = slot->late;
        status =
            params_write(out, PARAMS_UP_TO(gs_report, priority), &read, sizeof(read), "gs_report");
        if (status == GS_OK)
            report->id = 0;
    }
    pthread_mutex_unlock(&session->report_lock);
    return status;
}

static gs_status report_wait(gs_session handle, gs_report_id id, gs_report *out,
                             uint64_t timeout_ns)
{
    struct backoff backoff = {.deadline_ns = timeout_ns ? wait_deadline(timeout_ns) : 0};
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    do {
        const bool alive = session_alive(session);
        status = report_fetch(session, id, out); /* after the check of `alive`: the report may
                                                    have come just before the end */
        if (status == GS_NOT_READY)
            status = alive ? fault_check(session, status) : session_trouble(session);
    } while (status == GS_NOT_READY && timeout_ns && backoff_pause(&backoff));
    session_leave(session);
    return status;
}

gs_status gs_launch_report(gs_session handle, gs_report_id id, gs_report *out)
{
    return report_wait(handle, id, out, 0);
}

gs_status gs_launch_report_for(gs_session handle, gs_report_id id, gs_report *out,
                               uint64_t timeout_ns)
{
    return report_wait(handle, id, out, timeout_ns);
}

/* ---- Launch ---- */

static gs_status args_copy(const struct kernel *kernel, void *const *args, unsigned char *buffer)
{
    for (uint32_t i = 0; i < kernel->info.param_count; i++) {
        uint32_t size = kernel->info.param[i].size;
        unsigned char *to = buffer + kernel->info.param[i].offset;

        if (!args[i])
            return error_set(GS_ERR_PARAMS, "argument %u of kernel %.64s is NULL", i, kernel->name);
        /* Pointers and numbers have constant sizes here, which the compiler copies in one move. */
        if (size == 8)
            memcpy(to, args[i], 8);
        else if (size == 4)
            memcpy(to, args[i], 4);
        else
            memcpy(to, args[i], size);
    }
    return GS_OK;
}

/* Determines the parts that follow the parameters. */
static gs_status extras_read(const struct session *session, struct stream *stream,
                             const gs_launch_config *config, uint16_t *flags, struct wire_qos *qos)
{
    /* A launch of a session with a deadline carries its time of submission. relaxed: a grant that
     * arrives now need not apply to this launch. */
    bool deadline =
        __atomic_load_n(&session->server_page->grant.deadline_ns, __ATOMIC_RELAXED) != 0;
    gs_status status = GS_OK;

    *flags = 0;
    if (config->qos) {
        status = qos_for_launch(session, stream, config->qos, qos);
        if (status == GS_OK && atomic_load_explicit(&stream->recording, memory_order_relaxed))
            status = error_set(GS_ERR_RECORDING, "a launch that is recorded in a graph has no "
                                                 "quality of service of its own");
        if (status == GS_OK && config->cooperative && qos->affinity_type != GS_EXEC_AFFINITY_NONE)
            status = error_set(GS_ERR_NOT_SUPPORTED,
                               "a cooperative launch runs on all of the session's SMs: it has no "
                               "affinity of its own");
        if (status != GS_OK)
            return status;
        *flags |= REC_LAUNCH_QOS;
        deadline = deadline || qos->deadline_ns;
    }
    if (config->cooperative)
        *flags |= REC_LAUNCH_COOPERATIVE;
    if (config->programmatic)
        *flags |= REC_LAUNCH_PROGRAMMATIC;
    if (names_clusters(config))
        *flags |= REC_LAUNCH_CLUSTER;
    if (config->report ||
        (deadline && !atomic_load_explicit(&stream->recording, memory_order_relaxed)))
        *flags |= REC_LAUNCH_TIME;
    return status;
}

/* Submits a launch. The caller holds the stream's lock. */
static gs_status launch_record(struct session *session, struct stream *stream,
                               const struct kernel *kernel, const gs_launch_config *config,
                               void *const *args)
{
    uint16_t flags;
    struct wire_qos qos;
    struct wire_cluster cluster;
    struct rec_launch *record;
    uint64_t report = 0, now;
    gs_status status = extras_read(session, stream, config, &flags, &qos);
    uint32_t size = launch_record_size(flags, kernel->info.param_bytes);

    if (status != GS_OK)
        return status;
    if (config->report && atomic_load_explicit(&stream->recording, memory_order_relaxed))
        return error_set(GS_ERR_RECORDING, "a launch that is recorded in a graph has no report");
    if (config->cooperative && atomic_load_explicit(&stream->recording, memory_order_relaxed))
        return error_set(GS_ERR_RECORDING, "a cooperative launch is not recorded in a graph");
    status = stream_reserve(session, stream, size, (void **)&record);
    if (status == GS_OK)
        status = args_copy(kernel, args, (unsigned char *)(record + 1));
    if (status == GS_OK && config->report)
        status = report_open(session, &report);
    if (status != GS_OK)
        return status;
    *record = (struct rec_launch){
        .h = {.op = REC_LAUNCH, .flags = flags, .size = size},
        .kernel = kernel->id,
        .param_bytes = kernel->info.param_bytes,
        .grid = {config->grid.x, config->grid.y, config->grid.z},
        .block = {config->block.x, config->block.y, config->block.z},
        .dynamic_smem = config->dynamic_smem,
        .report = (uint32_t)report,
    };
    if (flags & REC_LAUNCH_QOS)
        memcpy((unsigned char *)record + launch_record_qos(kernel->info.param_bytes), &qos,
               sizeof(qos));
    if (flags & REC_LAUNCH_TIME) {
        now = clock_ns();
        memcpy((unsigned char *)record + launch_record_time(flags, kernel->info.param_bytes), &now,
               sizeof(now));
    }
    if (flags & REC_LAUNCH_CLUSTER) {
        cluster = cluster_of_sides(config->cluster.x, config->cluster.y, config->cluster.z);
        memcpy((unsigned char *)record + launch_record_cluster(flags, kernel->info.param_bytes),
               &cluster, sizeof(cluster));
    }
    if (report)
        *config->report = report;
    stream_commit(session, stream, size);
    return GS_OK;
}

static gs_status launch_on(struct session *session, struct stream *stream, gs_kernel handle,
                           const gs_launch_config *config, void *const *args)
{
    struct handle h = handle_decode(handle);
    const struct kernel *kernel = handle_lookup(&session->kernels, h.slot, h.generation);
    gs_status status;

    if (!kernel)
        return handle_unknown(h, "kernel");
    status = config_check(session, kernel, config);
    if (status == GS_OK)
        status = args_check(kernel, config, args);
    if (status == GS_OK)
        status = launch_record(session, stream, kernel, config, args);
    return status;
}

gs_status gs_launch(gs_stream stream_handle, gs_kernel kernel, const gs_launch_config *given,
                    void **args)
{
    gs_launch_config read = GS_LAUNCH_CONFIG_INIT;
    const gs_launch_config *config = given;
    struct session *session;
    struct stream *stream;
    gs_status status;

    if (!given)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_launch_config pointer is NULL");
    if (given->size != sizeof(read)) {
        status = params_read(&read, sizeof(read), PARAMS_UP_TO(gs_launch_config, dynamic_smem),
                             given, "gs_launch_config");
        if (status != GS_OK)
            return status;
        /* In a program built with an older header, this member is padding. */
        if (given->size <= offsetof(gs_launch_config, cluster))
            read.programmatic = 0;
        config = &read;
    }
    status = session_use(handle_decode(kernel), HANDLE_KERNEL, &session);
    if (status != GS_OK)
        return status;
    if (config->cooperative)
        status = cooperative_check(session, kernel, config);
    if (status == GS_OK)
        status = stream_lock(session, stream_handle, &stream);
    if (status == GS_OK)
        status = stream_unlock(stream, launch_on(session, stream, kernel, config, args));
    session_leave(session);
    return status;
}
