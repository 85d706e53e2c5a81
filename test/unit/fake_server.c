/* fake_server.c - see fake_server.h. The control thread attaches and detaches; the worker
 * thread does everything in segments. `lock` orders the two on the list of sessions. */
#include "fake_server.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/names.h"
#include "common/reply_socket.h"
#include "common/ring.h"
#include "common/seg_grant.h"
#include "common/sm_groups.h"
#include "common/util.h"
#include "common/wire.h"
#include "fake_tenant.h"

#define SESSIONS_MAX 64u
#define SPINS        64u

struct fake {
    char instance[32], control_name[WIRE_NAME_MAX], bell_name[WIRE_BELL_MAX];
    mqd_t control, bell;
    pthread_t control_thread, dispatch_thread;
    atomic_bool stop, paused, break_next, end_at_next;
    atomic_uint patience_ms; /* of the last attach */
    _Atomic uint64_t late;   /* streams whose words stay, by bit */
    atomic_uint lost_bells;
    int page_id;
    struct status_page *page;
    unsigned char *memory; /* the device's, 256-byte aligned */

    pthread_mutex_t lock; /* all below */
    struct tenant tenant[SESSIONS_MAX];
    uint64_t next_id;
    uint64_t used;      /* of memory, never reused */
    uint64_t allocated; /* less what was freed */
    unsigned frees;     /* requests to free memory that were granted */
};

void fake_must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fake server: %s: %s\n", what, strerror(errno));
    abort();
}

static void control_lock(mqd_t queue, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

    fake_must(!fcntl(queue, F_OFD_SETLK, &lock), "F_OFD_SETLK");
}

/* The library maps and unmaps the same segments in the same process. Were an address used by both
 * in turn, ThreadSanitizer, which does not know shmdt, would see races: so these have an address
 * range of their own, never used twice. */
#define ARENA_BYTES (UINT64_C(1) << 36)

static void *arena_take(size_t size)
{
    static unsigned char *base;
    static uint64_t used;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t at;

    pthread_mutex_lock(&lock);
    if (!base)
        base =
            mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fake_must(base != MAP_FAILED, "mmap");
    at = used;
    used += (size + 4095) / 4096 * 4096;
    fake_must(used <= ARENA_BYTES, "the arena is used up");
    pthread_mutex_unlock(&lock);
    return base + at;
}

static void *segment_new(size_t size, int *id)
{
    void *memory;

    *id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    fake_must(*id >= 0, "shmget");
    memory = shmat(*id, arena_take(size), SHM_REMAP);
    fake_must(memory != (void *)-1, "shmat");
    fake_must(!shmctl(*id, IPC_RMID, NULL), "shmctl");
    return memory;
}

/* A new mapping over the old one takes it away without leaving a hole for somebody else. */
static void segment_free(void *memory, size_t size)
{
    fake_must(mmap(memory, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                   -1, 0) == memory,
              "mmap");
}

/* ---- Records ---- */

static bool stream_drain(struct tenant *tenant, unsigned stream, bool late)
{
    /* pairs with stream_commit; seq_cst: after the exchange of activity */
    uint64_t tail = atomic_load_explicit(&tenant->client->tail[stream], memory_order_seq_cst);
    const unsigned char *ring = tenant->segment + SEG_OFF_RINGS + stream * SEG_RING_BYTES;
    unsigned char bytes[REC_SIZE_MAX];
    bool worked = false;

    fake_must(ring_tail_valid(tail, tenant->head[stream]), "a tail that cannot be");
    while (tenant->head[stream] != tail) {
        const unsigned char *at = ring + ring_offset(tenant->head[stream]);
        struct rec_header header;
        memcpy(&header, at, sizeof(header));
        fake_must(header.size && header.size % REC_ALIGN == 0 &&
                      header.size <= ring_to_end(tenant->head[stream]),
                  "a record of an impossible size");
        if (header.op != REC_PAD) {
            fake_must(header.size <= sizeof(bytes), "a record that is too large");
            memcpy(bytes, at, header.size);
            if (!fake_record_run(tenant, bytes))
                break;
        }
        tenant->head[stream] += header.size;
        worked = true;
    }
    /* release: pairs with position_complete's acquire */
    if (!late)
        atomic_store_explicit(&tenant->complete->position[stream], tenant->head[stream],
                              memory_order_release);
    return worked;
}

/* ---- Requests ---- */

static gs_status host_alloc(struct tenant *tenant, struct seg_request *r)
{
    int id;

    for (unsigned i = 0; i < BLOCKS_MAX; i++) {
        if (tenant->block[i].memory)
            continue;
        tenant->block[i].memory = segment_new(r->arg[0], &id);
        tenant->block[i].size = r->arg[0];
        r->ret[0] = i;
        r->ret[1] = (uint64_t)id;
        return GS_OK;
    }
    return GS_ERR_LIMIT;
}

static gs_status host_free(struct tenant *tenant, const struct seg_request *r)
{
    if (r->arg[0] >= BLOCKS_MAX || !tenant->block[r->arg[0]].memory)
        return GS_ERR_INVALID_VALUE;
    segment_free(tenant->block[r->arg[0]].memory, tenant->block[r->arg[0]].size);
    tenant->block[r->arg[0]].memory = NULL;
    return GS_OK;
}

static gs_status kernel_get(struct seg_request *r)
{
    static const struct req_kernel fill = {.param_count = 3,
                                           .param_bytes = 16,
                                           .param = {{0, 8}, {8, 4}, {12, 4}}},
                                   none = {0},
                                   wide = {.param_count = 2,
                                           .param_bytes = REQ_PARAM_BYTES_MAX,
                                           .param = {{0, 8}, {8, REQ_PARAM_BYTES_MAX - 8}}};
    static const struct {
        const char *name;
        const struct req_kernel *kernel;
    } kernels[] = {{"fill", &fill}, {"none", &none}, {"wide", &wide}};

    for (unsigned i = 0; i < ARRAY_SIZE(kernels); i++) {
        if (strcmp(r->name, kernels[i].name))
            continue;
        r->ret[0] = i + 1;
        r->payload.kernel = *kernels[i].kernel;
        r->payload.kernel.max_threads_per_block = FAKE_THREADS_MAX / 2;
        r->payload.kernel.max_dynamic_smem = FAKE_SMEM_MAX;
        return GS_OK;
    }
    snprintf(r->message, sizeof(r->message), "no kernel %.64s", r->name);
    return GS_ERR_NOT_FOUND;
}

static gs_status graph_create(struct tenant *tenant, struct seg_request *r)
{
    for (unsigned i = 0; i < GRAPHS_MAX; i++) {
        if (tenant->graph[i].records)
            continue;
        tenant->graph[i].records = malloc(r->arg[1]);
        fake_must(tenant->graph[i].records, "malloc");
        memcpy(tenant->graph[i].records, tenant->block[r->arg[0]].memory, r->arg[1]);
        tenant->graph[i].size = r->arg[1];
        r->ret[0] = i;
        return GS_OK;
    }
    return GS_ERR_LIMIT;
}

static gs_status stream_create(struct tenant *tenant, struct seg_request *r)
{
    for (unsigned i = 1; i < SEG_STREAMS; i++) {
        if (!tenant->stream[i]) {
            tenant->stream[i] = true;
            r->ret[0] = i;
            return GS_OK;
        }
    }
    return GS_ERR_LIMIT;
}

static gs_status device_alloc(struct fake *fake, struct seg_request *r)
{
    uint64_t size = (r->arg[0] + 255) / 256 * 256;

    if (r->arg[0] > FAKE_DEVICE_MEMORY || size > FAKE_DEVICE_MEMORY - fake->used)
        return GS_ERR_NO_DEVICE_MEMORY;
    r->ret[0] = (uint64_t)(uintptr_t)fake->memory + fake->used;
    fake->used += size;
    fake->allocated += r->arg[0];
    return GS_OK;
}

static gs_status request_run(struct fake *fake, struct tenant *tenant, struct seg_request *r)
{
    gs_status refuse = tenant->refuse;

    r->message[0] = '\0';
    if (refuse != GS_OK) {
        tenant->refuse = GS_OK;
        snprintf(r->message, sizeof(r->message), "%s", tenant->refuse_message);
        return refuse;
    }
    switch (r->op) {
    case REQ_MALLOC:
        return device_alloc(fake, r);
    case REQ_FREE:
        fake->frees++;
        return GS_OK;
    case REQ_MEM_INFO:
        r->ret[0] = FAKE_DEVICE_MEMORY - fake->used;
        r->ret[1] = FAKE_DEVICE_MEMORY;
        return GS_OK;
    case REQ_HOST_ALLOC:
        return host_alloc(tenant, r);
    case REQ_HOST_FREE:
        return host_free(tenant, r);
    case REQ_MODULE_LOAD:
        if (!strncmp((char *)tenant->block[r->arg[0]].memory, "bad", 3)) {
            snprintf(r->message, sizeof(r->message), "line 1: expected .version, found bad");
            return GS_ERR_BAD_IMAGE;
        }
        return GS_OK;
    case REQ_KERNEL_GET:
        return kernel_get(r);
    case REQ_GLOBAL_GET:
        r->ret[0] = (uint64_t)(uintptr_t)fake->memory + FAKE_DEVICE_MEMORY;
        r->ret[1] = 64;
        return strcmp(r->name, "table") ? GS_ERR_NOT_FOUND : GS_OK;
    case REQ_STREAM_CREATE:
        return stream_create(tenant, r);
    case REQ_STREAM_DESTROY:
        tenant->stream[r->arg[0]] = false;
        return GS_OK;
    case REQ_EVENT_ELAPSED:
        r->ret[0] = 1500000;
        return GS_OK;
    case REQ_GRAPH_CREATE:
        return graph_create(tenant, r);
    case REQ_GRAPH_DESTROY:
        free(tenant->graph[r->arg[0]].records);
        tenant->graph[r->arg[0]].records = NULL;
        return GS_OK;
    case REQ_MODULE_UNLOAD:
        return GS_OK;
    default:
        return GS_ERR_INVALID_VALUE;
    }
}

static void request_answer(struct fake *fake, struct tenant *tenant)
{
    struct seg_request *r = tenant->request;

    /* pairs with request_post; seq_cst: after the exchange of activity */
    if (atomic_load_explicit(&r->state, memory_order_seq_cst) != REQ_POSTED)
        return;
    r->status = request_run(fake, tenant, r);
    /* release: pairs with the client's acquire of DONE */
    atomic_store_explicit(&r->state, REQ_DONE, memory_order_release);
    futex_wake(&r->state);
}

/* ---- The worker ---- */

static bool tenant_dispatch(struct fake *fake, struct tenant *tenant)
{
    uint64_t activity = 0;
    bool worked = false;

    if (atomic_load_explicit(&tenant->client->activity, memory_order_seq_cst))
        activity = atomic_exchange_explicit(&tenant->client->activity, 0, memory_order_seq_cst);
    if (activity >> SEG_REQUEST_BIT & 1) {
        request_answer(fake, tenant);
        worked = true;
    }
    if (atomic_load(&fake->paused) ||
        atomic_load_explicit(&tenant->server->state, memory_order_relaxed) != SEG_OPEN) {
        activity &= ~(UINT64_C(1) << SEG_REQUEST_BIT);
        if (activity) /* for later */
            atomic_fetch_or_explicit(&tenant->client->activity, activity, memory_order_seq_cst);
        return true;
    }
    /* Every stream: one that waits for another has no bit of its own. */
    for (unsigned i = 0; i < SEG_STREAMS; i++)
        worked |= stream_drain(tenant, i, atomic_load(&fake->late) >> i & 1);
    return worked;
}

static bool all_dispatch(struct fake *fake)
{
    bool worked = false;

    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        if (fake->tenant[i].used)
            worked |= tenant_dispatch(fake, &fake->tenant[i]);
    }
    pthread_mutex_unlock(&fake->lock);
    return worked;
}

/* Asks for a bell; false if there is work after all. */
static bool all_ask_bell(struct fake *fake)
{
    bool idle = true;

    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        struct tenant *tenant = &fake->tenant[i];
        if (!tenant->used)
            continue;
        atomic_store_explicit(&tenant->server->need_bell, 1, memory_order_seq_cst);
        /* Pairs with activity_signal: the bit is seen here, or need_bell there. */
        idle &= !atomic_load_explicit(&tenant->client->activity, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&fake->lock);
    return idle;
}

static void *dispatch_main(void *arg)
{
    struct fake *fake = arg;
    unsigned idle = 0;

    while (!atomic_load(&fake->stop)) {
        char message[BELL_MESSAGE_SIZE];
        struct timespec until;

        idle = all_dispatch(fake) ? 0 : idle + 1;
        if (idle < SPINS || !all_ask_bell(fake))
            continue;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += FAKE_NAP_MS / 1000;
        if (mq_timedreceive(fake->bell, message, sizeof(message), NULL, &until) < 0 &&
            errno == ETIMEDOUT && all_dispatch(fake))
            atomic_fetch_add(&fake->lost_bells, 1);
        idle = 0;
    }
    return NULL;
}

/* ---- Control ---- */

static void info_fill(struct fake *fake, struct tenant *tenant)
{
    struct seg_info *info = (struct seg_info *)(tenant->segment + SEG_OFF_INFO);

    *info = (struct seg_info){
        .magic = WIRE_MAGIC,
        .version = atomic_exchange(&fake->break_next, false) ? WIRE_VERSION + 1 : WIRE_VERSION,
        .session_id = tenant->id,
        .server_pid = getpid(),
        .device_memory = FAKE_DEVICE_MEMORY,
        .mem_limit = FAKE_DEVICE_MEMORY,
        .window_base = (uint64_t)(uintptr_t)fake->memory,
        .window_size = FAKE_DEVICE_MEMORY,
        .compute_major = 9,
        .sm_count = FAKE_SM_COUNT,
        .max_threads_per_block = FAKE_THREADS_MAX,
        .max_block_dim = {FAKE_THREADS_MAX, FAKE_THREADS_MAX, 64},
        .max_grid_dim = {2147483647, 65535, 65535},
        .max_dynamic_smem = FAKE_SMEM_MAX,
        .sm_granularity = 2,
        .device_name = "fake",
        .device_uuid = "GPU-fa",
        .attribute = {[38] = FAKE_L2_BYTES},
        .device_count = FAKE_DEVICES,
    };
    memcpy(info->bell, fake->bell_name, sizeof(info->bell));
    for (unsigned sm = 0; sm < FAKE_SM_COUNT; sm++)
        info->sm_group[sm] = (uint8_t)(sm / 2);
}

/* Grants what is wished: of an affinity only the count. */
static struct sm_mask sms_wanted(const struct wire_qos *qos)
{
    switch (qos->affinity_type) {
    case GS_EXEC_AFFINITY_SM_MASK:
        return sm_mask_of(qos->sm_mask);
    case GS_EXEC_AFFINITY_SM_COUNT:
        return sm_mask_first(qos->sm_count);
    case GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE:
        return sm_mask_first(sm_count_of_percentage(FAKE_SM_COUNT, qos->percentage));
    default:
        return sm_mask_first(FAKE_SM_COUNT);
    }
}

static void qos_grant(struct tenant *tenant, const struct wire_qos *qos)
{
    const struct sm_mask mask = sms_wanted(qos);
    uint32_t count = sm_mask_count(&mask);
    struct seg_grant grant = {.cls = qos->cls,
                              .priority = qos->priority,
                              .priority_max = 5,
                              .weight = qos->weight ? qos->weight : 1,
                              .sm_count = count,
                              .partition = count < FAKE_SM_COUNT,
                              .deadline_ns = qos->deadline_ns};

    memcpy(grant.sm_mask, mask.word, sizeof(grant.sm_mask));
    seg_grant_write(&tenant->server->grant, &grant, tenant->grant_sequence += 2);
}

static struct tenant *tenant_new(struct fake *fake, const struct wire_qos *qos)
{
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        struct tenant *tenant = &fake->tenant[i];
        if (tenant->used)
            continue;
        *tenant = (struct tenant){.used = true};
        tenant->id = ++fake->next_id;
        tenant->cookie = tenant->id * 7919;
        tenant->segment = segment_new(SEG_SIZE, &tenant->segment_id);
        tenant->client = (struct seg_client *)(tenant->segment + SEG_OFF_CLIENT);
        tenant->complete = (struct seg_complete *)(tenant->segment + SEG_OFF_COMPLETE);
        tenant->server = (struct seg_server *)(tenant->segment + SEG_OFF_SERVER);
        tenant->request = (struct seg_request *)(tenant->segment + SEG_OFF_REQUEST);
        info_fill(fake, tenant);
        qos_grant(tenant, qos);
        atomic_store(&tenant->server->state, SEG_OPEN);
        atomic_store(&tenant->server->need_bell, 1);
        return tenant;
    }
    return NULL;
}

static void tenant_end(struct tenant *tenant)
{
    for (unsigned i = 0; i < BLOCKS_MAX; i++) {
        if (tenant->block[i].memory)
            segment_free(tenant->block[i].memory, tenant->block[i].size);
    }
    for (unsigned i = 0; i < GRAPHS_MAX; i++)
        free(tenant->graph[i].records);
    tenant->used = false;
    atomic_store_explicit(&tenant->server->state, SEG_CLOSED, memory_order_release);
    futex_wake(&tenant->server->state);
    segment_free(tenant->segment, SEG_SIZE);
}

static void asker_gone(struct fake *fake, struct tenant *tenant)
{
    pthread_mutex_lock(&fake->lock);
    if (tenant)
        tenant_end(tenant);
    pthread_mutex_unlock(&fake->lock);
}

/* false: whoever asked has gone. */
static bool answer(struct fake *fake, uint64_t token, const void *reply, size_t size)
{
    char name[WIRE_NAME_MAX];
    bool sent;
    uid_t uid;
    int end;

    name_reply(name, geteuid(), fake->instance, token);
    end = mq_open(name, O_WRONLY | O_NONBLOCK);
    if (end >= 0) {
        sent = mq_send(end, reply, size, 0) == 0;
        /* Not close(): the thread sanitizer knows of none of a queue's calls. */
        mq_close(end);
    } else if ((end = reply_socket_connect(name, &uid)) >= 0) {
        sent = send(end, reply, size, MSG_NOSIGNAL) == (ssize_t)size;
        close(end);
    } else {
        return false;
    }
    return sent;
}

static void attach_answer(struct fake *fake, const struct ctl_attach *request)
{
    uint64_t token = request->h.token;
    struct ctl_attach_reply reply = {
        .h = {.magic = WIRE_MAGIC,
              .version = WIRE_VERSION,
              .op = CTL_ATTACH,
              .size = sizeof(reply),
              .token = token},
        .status_page_id = fake->page_id,
        .segment_size = SEG_SIZE,
    };
    struct tenant *tenant;

    atomic_store(&fake->patience_ms, request->patience_ms);
    pthread_mutex_lock(&fake->lock);
    tenant = tenant_new(fake, &request->qos);
    if (tenant) {
        reply.segment_id = tenant->segment_id;
        reply.session_id = tenant->id;
        reply.cookie = tenant->cookie;
    } else {
        reply.status = GS_ERR_LIMIT;
    }
    pthread_mutex_unlock(&fake->lock);
    if (atomic_exchange(&fake->end_at_next, false)) {
        asker_gone(fake, tenant);
        tenant = NULL;
        control_lock(fake->control, F_UNLCK);
    }
    if (!answer(fake, token, &reply, sizeof(reply)))
        asker_gone(fake, tenant);
}

static void detach_answer(struct fake *fake, uint64_t cookie)
{
    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        if (fake->tenant[i].used && fake->tenant[i].cookie == cookie)
            tenant_end(&fake->tenant[i]);
    }
    pthread_mutex_unlock(&fake->lock);
}

static void set_qos_answer(struct fake *fake, const struct ctl_set_qos *request)
{
    struct ctl_done_reply reply = {.h = {.magic = WIRE_MAGIC,
                                         .version = WIRE_VERSION,
                                         .op = CTL_SET_QOS,
                                         .size = sizeof(reply),
                                         .token = request->h.token},
                                   .status = GS_ERR_PERMISSION};

    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        if (fake->tenant[i].used && fake->tenant[i].cookie == request->cookie) {
            qos_grant(&fake->tenant[i], &request->qos);
            reply.status = GS_OK;
        }
    }
    pthread_mutex_unlock(&fake->lock);
    answer(fake, request->h.token, &reply, sizeof(reply));
}

static void confirm_note(struct fake *fake, uint64_t cookie)
{
    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        fake->tenant[i].confirmed |= fake->tenant[i].used && fake->tenant[i].cookie == cookie;
    pthread_mutex_unlock(&fake->lock);
}

static void *control_main(void *arg)
{
    struct fake *fake = arg;
    _Alignas(8) char bytes[CTL_MESSAGE_MAX];
    struct ctl_header header;

    while (!atomic_load(&fake->stop)) {
        ssize_t n = mq_receive(fake->control, bytes, sizeof(bytes), NULL);
        if (n < (ssize_t)sizeof(header))
            continue;
        memcpy(&header, bytes, sizeof(header));
        if (header.op == CTL_ATTACH)
            attach_answer(fake, (const struct ctl_attach *)(const void *)bytes);
        else if (header.op == CTL_CONFIRM)
            confirm_note(fake, header.token);
        else if (header.op == CTL_DETACH)
            detach_answer(fake, header.token);
        else if (header.op == CTL_SET_QOS)
            set_qos_answer(fake, (const struct ctl_set_qos *)(const void *)bytes);
    }
    return NULL;
}

/* ---- For tests ---- */

struct fake *fake_start(const char *instance)
{
    struct fake *fake = calloc(1, sizeof(*fake));
    struct mq_attr control = {.mq_maxmsg = CTL_QUEUE_DEPTH, .mq_msgsize = CTL_MESSAGE_MAX};
    struct mq_attr bell = {.mq_maxmsg = BELL_QUEUE_DEPTH, .mq_msgsize = BELL_MESSAGE_SIZE};

    fake_must(fake, "calloc");
    pthread_mutex_init(&fake->lock, NULL);
    snprintf(fake->instance, sizeof(fake->instance), "%s", instance);
    name_control(fake->control_name, geteuid(), instance);
    name_bell(fake->bell_name, geteuid(), instance, 0);
    mq_unlink(fake->control_name);
    mq_unlink(fake->bell_name);
    fake->control = mq_open(fake->control_name, O_RDWR | O_CREAT | O_EXCL, 0600, &control);
    fake_must(fake->control >= 0, "mq_open");
    control_lock(fake->control, F_RDLCK);
    fake->bell = mq_open(fake->bell_name, O_RDWR | O_CREAT | O_EXCL, 0600, &bell);
    fake_must(fake->bell >= 0, "mq_open");
    fake->page = segment_new(sizeof(*fake->page), &fake->page_id);
    *fake->page = (struct status_page){.magic = WIRE_MAGIC,
                                       .version = WIRE_VERSION,
                                       .owner = (uint32_t)getpid(),
                                       .server_pid = getpid(),
                                       .trusts = GS_TRUST_OWNER};
    /* 64 bytes after the memory are the global variable. */
    fake->memory = aligned_alloc(4096, FAKE_DEVICE_MEMORY + 4096);
    fake_must(fake->memory, "aligned_alloc");
    fake_must(!pthread_create(&fake->control_thread, NULL, control_main, fake), "pthread_create");
    fake_must(!pthread_create(&fake->dispatch_thread, NULL, dispatch_main, fake), "pthread_create");
    return fake;
}

/* Has the queue's thread look at `stop`. That of a full queue has something to look at, or has gone
 * already. */
static void thread_wake(mqd_t queue, const void *message, size_t size)
{
    static const struct timespec past = {0, 0};

    mq_timedsend(queue, message, size, 0, &past);
}

void fake_die(struct fake *fake)
{
    struct ctl_header end = {0};
    char bell[BELL_MESSAGE_SIZE] = {0};

    if (atomic_exchange(&fake->stop, true))
        return;
    thread_wake(fake->control, &end, sizeof(end));
    thread_wake(fake->bell, bell, sizeof(bell));
    pthread_join(fake->control_thread, NULL);
    pthread_join(fake->dispatch_thread, NULL);
    atomic_store(&fake->page->owner, STATUS_OWNER_DIED);
    mq_close(fake->control);
    mq_close(fake->bell);
}

void fake_stop(struct fake *fake)
{
    fake_die(fake);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        if (fake->tenant[i].used)
            tenant_end(&fake->tenant[i]);
    }
    mq_unlink(fake->control_name);
    mq_unlink(fake->bell_name);
    segment_free(fake->page, sizeof(*fake->page));
    free(fake->memory);
    pthread_mutex_destroy(&fake->lock);
    free(fake);
}

void fake_words_late(struct fake *fake, uint64_t streams)
{
    atomic_store(&fake->late, streams);
}

void fake_pause(struct fake *fake, bool paused)
{
    char bell[BELL_MESSAGE_SIZE] = {0};

    atomic_store(&fake->paused, paused);
    mq_send(fake->bell, bell, sizeof(bell), 0);
}

void fake_fault(struct fake *fake, gs_status status, const char *message)
{
    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        struct tenant *tenant = &fake->tenant[i];
        if (!tenant->used)
            continue;
        tenant->server->fault.kind = GS_FAULT_KERNEL;
        tenant->server->fault.status = status;
        snprintf(tenant->server->fault.message, sizeof(tenant->server->fault.message), "%s",
                 message);
        atomic_store_explicit(&tenant->server->state, SEG_FAULTED, memory_order_release);
        futex_wake(&tenant->server->state);
    }
    pthread_mutex_unlock(&fake->lock);
}

void fake_refuse_next(struct fake *fake, gs_status status, const char *message)
{
    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        fake->tenant[i].refuse = status;
        snprintf(fake->tenant[i].refuse_message, sizeof(fake->tenant[i].refuse_message), "%s",
                 message);
    }
    pthread_mutex_unlock(&fake->lock);
}

void fake_break_next_segment(struct fake *fake)
{
    atomic_store(&fake->break_next, true);
}

unsigned fake_patience_ms(struct fake *fake)
{
    return atomic_load(&fake->patience_ms);
}

void fake_end_at_next_attach(struct fake *fake)
{
    atomic_store(&fake->end_at_next, true);
}

unsigned fake_sessions_open(struct fake *fake)
{
    unsigned n = 0;

    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        n += fake->tenant[i].used;
    pthread_mutex_unlock(&fake->lock);
    return n;
}

void fake_end_unconfirmed(struct fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        if (fake->tenant[i].used && !fake->tenant[i].confirmed)
            tenant_end(&fake->tenant[i]);
    }
    pthread_mutex_unlock(&fake->lock);
}

unsigned fake_frees(struct fake *fake)
{
    unsigned n;

    pthread_mutex_lock(&fake->lock);
    n = fake->frees;
    pthread_mutex_unlock(&fake->lock);
    return n;
}

unsigned fake_host_blocks(struct fake *fake)
{
    unsigned n = 0;

    pthread_mutex_lock(&fake->lock);
    for (unsigned i = 0; i < SESSIONS_MAX; i++) {
        for (unsigned j = 0; fake->tenant[i].used && j < BLOCKS_MAX; j++)
            n += fake->tenant[i].block[j].memory != NULL;
    }
    pthread_mutex_unlock(&fake->lock);
    return n;
}

uint64_t fake_allocated(struct fake *fake)
{
    uint64_t n;

    pthread_mutex_lock(&fake->lock);
    n = fake->allocated;
    pthread_mutex_unlock(&fake->lock);
    return n;
}

unsigned fake_lost_bells(struct fake *fake)
{
    return atomic_load(&fake->lost_bells);
}
