/*
 * partition.c - the cache of partitions: green contexts, one for each set of SMs in use.
 *
 * Measured on an H200: a green context takes 5.2 MB of device memory and 1.1 to 1.4 ms to make, and
 * making one waits for all running kernels while no launch goes through. So green contexts are made
 * and destroyed at quiet moments (quiet.c), shared by all sessions that want the same SMs, and kept
 * without users, up to PARTITIONS_MAX: 1 GB at most with their streams. Beyond that number, the
 * partition without holders that was asked for least recently is removed; all partitions without
 * holders are removed when the device has no memory for another one.
 *
 * Also measured, with driver 580: a destroyed green context gives nothing back, neither its 4 MiB
 * of device memory nor its 1.6 MiB of host memory. A server that went on making and destroying them
 * would use up the device. With such a driver, which sm_topology.c recognises, no green context is
 * ever destroyed: all sets of SMs ever used stay in the table, as many as fit in a sixteenth of the
 * device's memory, and further sets are refused. Launches with a set of their own may use three
 * quarters of the table, so that grants find room. When half of it is used, the worker asks the
 * supervisor to replace it at the next moment without sessions.
 *
 * The table belongs to the main lane. A partition belongs to its job while its state is MAKING.
 */
#include "worker/partition/partition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "common/siphash.h"
#include "common/util.h"
#include "worker/partition/green_context.h"

#define FAILURE_KEPT_NS 20000000u
#define MAKING_UNHELD   4u /* the most that are made at a time without a holder, for launches */
#define KEPT_MOST       2048u
/* where the driver gives no memory back: the table's part of the device's memory */
#define KEPT_SHARE      16u
#define BUCKETS         1024u

static struct {
    struct partition *table[KEPT_MOST];
    struct partition *bucket[BUCKETS]; /* by mask */
    /* random, so that tenants cannot choose masks of one bucket */
    uint64_t key[2];
    uint32_t capacity, count; /* entries of `table` */
    /* no green context is destroyed, because the driver would not give its memory back */
    bool for_good;
    bool user_refused; /* the last refusal was because of the user's part of the table */
    uint32_t last_id;
    uint64_t clock;
    /* the clock at the last partitions_keep: a partition that was asked for later stays */
    uint64_t kept;
    uint64_t losses;
    struct partition *doomed; /* removed from the table; the next job destroys them */
    struct job *ready;        /* jobs to be sent on their way, newest first */
} cache = {.capacity = PARTITIONS_MAX};

gs_status partitions_init(void)
{
    const uint64_t lost = worker->partition_lost;
    uint64_t most = lost ? worker->info.memory_total / KEPT_SHARE / lost : PARTITIONS_MAX;

    if (cache.count == 0 && /* else the table is in use with its key */
        getrandom(cache.key, sizeof(cache.key), 0) != (ssize_t)sizeof(cache.key))
        return GS_ERR_SYSTEM;
    cache.for_good = lost > 0;
    if (most > KEPT_MOST)
        most = KEPT_MOST;
    cache.capacity = most < PARTITIONS_MAX ? PARTITIONS_MAX : (uint32_t)most;
    return GS_OK;
}

/* ---- The job that makes a partition: a service thread at a quiet moment ---------------------- */

/* Destroys the partitions in job->doomed, then makes the partition job->object. */
static void make_work(struct job *job)
{
    struct partition *partition = job->object;
    CUresult result;

    if (job->status != GS_OK) /* no quiet moment came */
        return;
    while (job->doomed) {
        struct partition *gone = job->doomed;
        job->doomed = gone->next;
        green_context_deinit(gone);
        free(gone);
    }
    result = green_context_init(partition);
    if (result) {
        job_fail_driver(job, result);
        green_context_deinit(partition);
    }
}

static const struct job_kind job_partition = {
    "partition", JOB_PATIENT | JOB_QUIET | JOB_PROMPT, NULL, make_work, NULL, NULL};

/* ---- The table: the main lane ---------------------------------------------------------------- */

/* Returns how full the table may become by launches' own sets of SMs, where no partition is
 * destroyed. */
static uint32_t launches_most(void)
{
    return cache.capacity / 4 * 3;
}

static struct partition **bucket_of(const struct sm_mask *mask)
{
    return &cache.bucket[siphash(cache.key, mask, sizeof(*mask)) % BUCKETS];
}

static void table_enter(struct partition **entry, struct partition *partition)
{
    struct partition **bucket = bucket_of(&partition->mask);

    partition->next = *bucket;
    *bucket = partition;
    *entry = partition;
    cache.count++;
}

static void table_remove(struct partition *partition)
{
    struct partition **link = bucket_of(&partition->mask);

    while (*link != partition)
        link = &(*link)->next;
    *link = partition->next;
    for (uint32_t i = 0; i < cache.capacity; i++) {
        if (cache.table[i] == partition)
            cache.table[i] = NULL;
    }
    cache.count--;
    cache.losses++;
}

/* Removes the partition from the table. The next job destroys it, if it exists on the device. */
static void partition_remove(struct partition *partition)
{
    table_remove(partition);
    if (partition->state == PARTITION_FAILED) {
        free(partition);
        return;
    }
    partition->next = cache.doomed;
    cache.doomed = partition;
}

static bool failure_is_old(const struct partition *partition)
{
    return partition->state == PARTITION_FAILED &&
           clock_ns() - partition->failed_ns > FAILURE_KEPT_NS;
}

/* Returns whether so many partitions are being made for launches that another has to wait. */
static bool making_enough(void)
{
    uint32_t making = 0;

    for (uint32_t i = 0; i < cache.capacity; i++) {
        const struct partition *p = cache.table[i];
        making += p && p->state == PARTITION_MAKING && p->holders == 0;
    }
    return making >= MAKING_UNHELD;
}

static struct partition *table_find(const struct sm_mask *mask)
{
    struct partition *partition = *bucket_of(mask);

    while (partition && !sm_mask_equal(&partition->mask, mask))
        partition = partition->next;
    return partition;
}

struct partition *partition_idle(const struct partition *before)
{
    const uint64_t used = before ? before->used : 0;
    struct partition *oldest = NULL;

    for (uint32_t i = 0; i < cache.capacity; i++) {
        struct partition *p = cache.table[i];
        if (p && p->holders == 0 && p->state != PARTITION_MAKING &&
            (!cache.for_good || p->state == PARTITION_FAILED) && p->used > used &&
            p->used <= cache.kept && (!oldest || p->used < oldest->used))
            oldest = p;
    }
    return oldest;
}

bool partition_dismiss(struct partition *partition)
{
    if (partition_has_graphs(partition))
        return false;
    partition_remove(partition);
    return true;
}

/* Returns a free entry of the table; NULL: there is none. */
static struct partition **table_room(void)
{
    for (uint32_t i = 0; i < cache.capacity; i++) {
        if (!cache.table[i])
            return &cache.table[i];
    }
    return NULL;
}

bool partition_table_full(const struct sm_mask *mask)
{
    return !table_find(mask) && !table_room();
}

static void ready_add(struct job *job)
{
    job->next = cache.ready;
    cache.ready = job;
}

struct job *partition_job(void)
{
    struct job *job = cache.ready;

    if (job)
        cache.ready = job->next;
    return job;
}

/* Makes the job that makes the partition. Returns false when there is no host memory. */
static bool making_begin(struct partition *partition)
{
    struct job *job = job_new(NULL, &job_partition);

    if (!job)
        return false;
    partition->state = PARTITION_MAKING;
    job->object = partition;
    job->doomed = cache.doomed;
    cache.doomed = NULL;
    ready_add(job);
    return true;
}

/* Asks the supervisor for a new worker, which starts with an empty table, when half of the table is
 * used. Warns in the log at three quarters, so that an operator learns of the limit before
 * refusals. */
static void fullness_tell(void)
{
    const struct link_message half_used = {.op = LINK_NEEDS_RECYCLING, .slot = LINK_SLOT_NONE};

    if (cache.for_good && cache.count == cache.capacity / 2)
        link_send(&half_used, -1);
    if (cache.for_good && cache.count == launches_most())
        log_warning("event=partitions used=%u limit=%u reason=\"the driver keeps the memory of "
                    "each until the server ends\"",
                    cache.count, cache.capacity);
}

/* Returns how many partitions may be made for the user where none is ever destroyed: the user's
 * limit of sets, scaled by how much larger the table is than LINK_SETS_MAX. 0: any number. */
static uint32_t user_most(const struct session *asker)
{
    return asker && cache.for_good ? asker->grant.link.user_sets * (cache.capacity / LINK_SETS_MAX)
                                   : 0;
}

static bool user_has_enough(const struct session *asker)
{
    const uint32_t most = user_most(asker);
    uint32_t count = 0;

    for (uint32_t i = 0; most && i < cache.capacity; i++)
        count += cache.table[i] && cache.table[i]->uid == asker->uid;
    return most && count >= most;
}

static struct partition *partition_begin(const struct sm_mask *mask, const struct session *asker,
                                         gs_status *status)
{
    cache.user_refused = user_has_enough(asker);
    struct partition **entry = cache.user_refused ? NULL : table_room();
    struct partition *partition = entry ? calloc(1, sizeof(*partition)) : NULL;

    *status = entry ? GS_ERR_NO_MEMORY : GS_ERR_LIMIT;
    if (!partition)
        return NULL;
    partition->mask = *mask;
    partition->uid = asker ? asker->uid : UINT32_MAX;
    partition->sm_count = sm_mask_count(mask);
    if (!making_begin(partition)) {
        free(partition);
        return NULL;
    }
    partition->id = ++cache.last_id;
    table_enter(entry, partition);
    fullness_tell();
    return partition;
}

/* Makes a failed partition again. Its holders were told of the failure, and ask again like any
 * caller. */
static struct partition *partition_again(struct partition *partition, gs_status *status)
{
    if (making_begin(partition))
        return partition;
    *status = GS_ERR_NO_MEMORY;
    return NULL;
}

struct partition *partition_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status)
{
    struct partition *partition = table_find(mask);

    if (!partition)
        partition = partition_begin(mask, asker, status);
    else if (failure_is_old(partition))
        partition = partition_again(partition, status);
    if (partition)
        partition->used = ++cache.clock;
    return partition;
}

struct partition *partition_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status)
{
    const struct partition *partition = table_find(mask);

    if (!partition && cache.for_good && cache.count >= launches_most()) {
        cache.user_refused = false;
        *status = GS_ERR_LIMIT;
        return NULL;
    }
    if ((!partition || failure_is_old(partition)) && making_enough()) {
        *status = GS_NOT_READY;
        return NULL;
    }
    return partition_get(mask, asker, status);
}

static uint32_t trimmed_count(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cache.capacity; i++)
        count += cache.table[i] && cache.table[i]->trimmed > 0;
    return count;
}

struct partition *partition_get_trimmed(const struct sm_mask *mask)
{
    struct partition *partition = table_find(mask);
    gs_status status;

    if ((!partition || !partition->trimmed) && trimmed_count() >= PARTITIONS_TRIMMED)
        return NULL;
    partition = partition_get(mask, NULL, &status);
    if (partition) {
        partition->trimmed++;
        partition_hold(partition);
    }
    return partition;
}

void partition_release_trimmed(struct partition *partition)
{
    if (!partition)
        return;
    partition->trimmed--;
    partition_release(partition);
}

const char *partition_trouble(gs_status status)
{
    static char text[160];

    if (status != GS_ERR_LIMIT)
        return "the server has no memory for a partition";
    if (cache.user_refused)
        snprintf(text, sizeof(text),
                 "the user's sessions have had their part of the sets of SMs (user-sets): the "
                 "driver keeps the memory of each until the server ends");
    else if (cache.for_good)
        snprintf(text, sizeof(text),
                 "%u sets of SMs have been in use, %u is the limit (%u for launches): the driver "
                 "keeps the memory of each until the server ends",
                 cache.count, cache.capacity, launches_most());
    else
        snprintf(text, sizeof(text), "%u partitions are in use, the limit", cache.capacity);
    return text;
}

void partition_use(struct partition *partition)
{
    partition->used = ++cache.clock;
}

void partitions_keep(void)
{
    cache.kept = cache.clock;
}

uint64_t partition_losses(void)
{
    return cache.losses;
}

void partition_release(struct partition *partition)
{
    if (partition)
        partition->holders--;
}

bool partition_is_job(const struct job *job)
{
    return job->kind == &job_partition;
}

void partition_retry(struct job *job)
{
    job->status = GS_OK;
    job->message[0] = '\0';
    job->doomed = cache.doomed;
    cache.doomed = NULL;
    ready_add(job);
}

void partition_settle(struct job *job)
{
    struct partition *partition = job->object;

    while (job->doomed) { /* left over, because no quiet moment came */
        struct partition *left = job->doomed;
        job->doomed = left->next;
        left->next = cache.doomed;
        cache.doomed = left;
    }
    partition->state = job->status == GS_OK ? PARTITION_READY : PARTITION_FAILED;
    partition->status = job->status;
    if (job->status != GS_OK) {
        partition->failed_ns = clock_ns();
        snprintf(partition->text, sizeof(partition->text), "%.190s", job->message);
        log_warning("event=partition-failed sms=%u reason=%s", partition->sm_count,
                    partition->text);
    }
    job_free(job);
}
