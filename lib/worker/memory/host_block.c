/*
 * host_block.c - host blocks: host memory shared with a tenant, for gs_host_alloc, for staging, and
 * for images.
 *
 * The worker makes each block as a System V segment, gives it to the tenant's uid and marks it for
 * removal at once. So no worker believes an id or a descriptor from a tenant, and nothing is left
 * behind, whichever process dies. Only a segment that is to be joined (host_request.c) is named by
 * its tenant, and the kernel tells its owner. A tenant cannot change the size of a System V
 * segment.
 *
 * A block for kernels lies at a place in the session's window (host_place.h). The tenant attaches
 * it at the same address, if that is free in its process. What happens to a freed block is in
 * host_request.c.
 */
#include "worker/memory/host_block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/segment.h"
#include "common/size_text.h"
#include "common/util.h"
#include "worker/jobs/job.h"
#include "worker/journal/journal.h"
#include "worker/memory/chunk.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/host_charge.h"
#include "worker/memory/host_place.h"
#include "worker/memory/limits.h"
#include "worker/memory/peer_window.h"
#include "worker/memory/preload.h"
#include "worker/memory/resume.h"
#include "worker/memory/user.h"
#include "worker/memory/window.h"

#define PAGE         UINT64_C(4096)
/* The speed of registering on an H200: about 0.5 ms a MiB. */
#define BYTES_PER_NS UINT64_C(2)

struct host_block *host_block_find(const struct session *session, uint64_t number)
{
    return session->memory.hosts && number < SEG_HOSTS ? session->memory.hosts[number] : NULL;
}

gs_status host_block_admit(struct job *job, uint64_t size)
{
    uint64_t limit = host_limit(), used = job->session->memory.host_bytes;
    char text[3][SIZE_TEXT_MAX];

    if (size == 0 || size > limit - used)
        return job_fail(job, size ? GS_ERR_LIMIT : GS_ERR_INVALID_VALUE,
                        "%s of host memory wanted, %s of %s are in use", size_exact(text[0], size),
                        size_exact(text[1], used), size_exact(text[2], limit));
    return GS_OK;
}

gs_status host_table_make(struct job *job)
{
    struct session_memory *memory = &job->session->memory;

    if (!memory->hosts)
        memory->hosts = calloc(SEG_HOSTS, sizeof(struct host_block *));
    return memory->hosts
               ? GS_OK
               : job_fail(job, GS_ERR_NO_MEMORY, "no memory for the table of host blocks");
}

uint64_t host_segment_size(uint64_t size, enum host_use use)
{
    return use == HOST_REACHED ? host_place_segment_size(size) : round_up(size, PAGE);
}

/* The user stays charged for a registered block until the driver has unregistered it. A kernel may
 * delay that; if the block did not count meanwhile, a tenant that allocates and frees again and
 * again could have any amount of memory pinned. */
void host_block_free(struct session *session, struct host_block *block)
{
    if (!block)
        return;
    const bool registered = block->pinned && !block->late;
    const struct deferred_end end = {.gone = user_host_defer_end, .user = session->memory.user};

    session->memory.host_bytes -= block->size;
    user_host_defer(session->memory.user, block->size);
    if (block->room && !registered) {
        host_place_detach(block->memory, block->room);
        user_host_defer_end(session->memory.user, block->size);
    } else if (block->room) {
        deferred_release_place(block->memory, block->room, block->size, end);
        peer_window_deferred(session, (uintptr_t)block->memory);
    } else {
        deferred_release_add(block->memory, registered ? block->memory : NULL, block->size, end);
    }
    free(block);
}

/* Charges the user for a block. False: the job has failed. */
static bool user_admit(struct job *job, uint64_t size)
{
    const struct session_memory *memory = &job->session->memory;
    uint32_t limit = atomic_load_explicit(&memory->user_hosts, memory_order_relaxed);

    if (host_charge_job(job, size, "host memory") != GS_OK)
        return false;
    if (user_host_charge(memory->user, limit))
        return true;
    host_discharge(job->session, size);
    job_fail(job, GS_ERR_LIMIT, "the user's sessions have %u host blocks, the limit", limit);
    return false;
}

/* Returns whether kernels reach the block at the worker's own address, as they do where host and
 * device share an address space. */
static bool has_own_address(const struct host_block *block)
{
    CUdeviceptr address = 0;

    return DRV(cuMemHostGetDevicePointer_v2, &address, block->memory, 0) == CUDA_SUCCESS &&
           address == (uintptr_t)block->memory;
}

/* Makes a block of attached memory, which is detached on failure. room: the size of its place, or
 * 0. registered: the memory is registered with the driver already. NULL: the job has failed. */
static struct host_block *block_of(struct job *job, void *memory, uint64_t size, uint64_t room,
                                   enum host_use use, bool registered)
{
    struct host_block *block = calloc(1, sizeof(*block));
    CUresult result = CUDA_SUCCESS;

    if (!block)
        job_fail(job, GS_ERR_NO_MEMORY, "no memory for a host block's record");
    else if (use != HOST_PLAIN && !registered)
        result = DRV(cuMemHostRegister_v2, memory, room ? room : size,
                     use >= HOST_MAPPED ? CU_MEMHOSTREGISTER_DEVICEMAP : 0);
    if (result)
        job_fail_driver(job, result);
    if (job->status != GS_OK) {
        if (room && registered)
            deferred_release_place(memory, room, size, (struct deferred_end){0});
        else if (room)
            host_place_give(job->session, memory, size);
        else
            deferred_release_add(memory, registered ? memory : NULL, size,
                                 (struct deferred_end){0});
        free(block);
        return NULL;
    }
    *block = (struct host_block){
        .memory = memory, .size = size, .room = room, .pinned = use != HOST_PLAIN};
    if (use == HOST_REACHED && has_own_address(block))
        block->address = (uintptr_t)memory;
    job->session->memory.host_bytes += size;
    return block;
}

/* Moves an attached segment to a place in the window: at the address or, where that is not free,
 * anywhere. Returns the size of the place; 0: there is none, and the segment stays where it was. */
static uint64_t place_move(struct job *job, int id, uint64_t size, void **memory, uint64_t address)
{
    void *place = host_place_take(job, id, size, address);

    if (!place && address)
        place = host_place_take(job, id, size, 0);
    if (!place)
        return 0;
    shmdt(*memory);
    *memory = place;
    job->session->memory.host_places = true;
    return host_place_room(size);
}

/* Makes a block of an attached segment that the user is charged for; on failure that charge ends.
 * NULL: the job has failed. */
static struct host_block *block_place(struct job *job, int id, void *memory, uint64_t size,
                                      enum host_use use, uint64_t address)
{
    struct host_block *block;
    CUresult result;
    uint64_t room = 0;

    if (use == HOST_REACHED && !(room = place_move(job, id, size, &memory, address)))
        use = HOST_COPIED;
    block = block_of(job, memory, size, room, use, false);
    if (!block) {
        user_host_discharge(job->session->memory.user, size);
        return NULL;
    }
    block->id = id;
    result = room ? window_follow(job->session) : CUDA_SUCCESS;
    if (!result)
        return block;
    host_block_free(job->session, block);
    job_fail_driver(job, result);
    return NULL;
}

struct host_block *host_block_new(struct job *job, uint64_t asked, enum host_use use, int *id)
{
    struct session_memory *own = &job->session->memory;
    char text[SIZE_TEXT_MAX];
    uint64_t size;
    void *memory;
    int error;

    if (use == HOST_REACHED && host_segment_size(asked, use) > host_limit() - own->host_bytes)
        use = HOST_COPIED;
    size = host_segment_size(asked, use);
    /* The system has few System V segments for all users. */
    if (atomic_load_explicit(&own->user_hosts, memory_order_relaxed) && segments_low()) {
        job_fail(job, GS_ERR_LIMIT, "nearly all System V segments are in use (kernel.shmmni)");
        return NULL;
    }
    if (!user_admit(job, size))
        return NULL;
    error = segment_make(size, S_IRUSR | S_IWUSR, job->session->uid, id, &memory);
    if (!error)
        return block_place(job, *id, memory, size, use, 0);
    job_fail(job, GS_ERR_NO_MEMORY, "no shared memory of %s: %s", size_exact(text, size),
             strerror(-error));
    user_host_discharge(own->user, size);
    return NULL;
}

struct host_block *host_block_join(struct job *job, int id, void *memory, uint64_t size,
                                   uint64_t address)
{
    struct host_block *block;

    if (!user_admit(job, size)) {
        shmdt(memory);
        return NULL;
    }
    block = block_place(job, id, memory, size, HOST_REACHED, address);
    if (block)
        block->joined = true;
    return block;
}

/* The segment disappears with its last process, and its id may then be another segment's. */
uint64_t host_segment_bytes(int id, uint32_t uid)
{
    struct shmid_ds status;

    return shmctl(id, IPC_STAT, &status) == 0 && status.shm_perm.uid == uid &&
                   status.shm_perm.cuid == geteuid()
               ? status.shm_segsz
               : 0;
}

/* Attaches a former worker's segment where it was, or takes its preloaded mapping. NULL: the job
 * has failed. */
static void *attach_again(struct job *job, int id, uint64_t size, uint64_t address, uint64_t room,
                          void *preloaded)
{
    void *memory = preloaded;

    if (room && preloaded && !chunk_place_new(job, address, room)) {
        deferred_release_place(preloaded, room, size, (struct deferred_end){0});
        memory = NULL;
    } else if (room && !preloaded) {
        memory = host_place_take(job, id, size, address);
    } else if (!preloaded) {
        memory = shmat(id, (void *)(uintptr_t)address, 0); // NOLINT: an address that it had
        memory = memory == (void *)-1 ? NULL : memory;
    }
    if (!memory)
        job_fail(job, GS_ERR_INTERRUPTED, "a host block has no place: %s", strerror(errno));
    return memory;
}

/* Returns whether registering a block of a session that is taken up would keep the other sessions
 * waiting for too long. */
static bool pins_late(const struct job *job, uint64_t size)
{
    const struct resume *resume = job->session->resume;

    return resume && clock_ns() + size / BYTES_PER_NS >= resume->prompt_until;
}

/* Leaves the block to be registered later, by host_blocks_resume_late. */
static void pin_late(const struct job *job, struct host_block *block, uint64_t address)
{
    block->pinned = block->late = true;
    block->address = address;
    job->session->resume->late = true;
}

struct host_block *host_block_adopt(struct job *job, int id, uint64_t size, enum host_use use,
                                    uint64_t address)
{
    struct session_memory *own = &job->session->memory;
    struct preload *preload = job->session->resume ? job->session->resume->preload : NULL;
    struct host_block *block;
    void *memory, *preloaded = NULL;
    uint64_t room = 0;

    if (host_segment_bytes(id, job->session->uid) != size) {
        job_fail(job, GS_ERR_INTERRUPTED, "a host block is gone");
        return NULL;
    }
    if (use == HOST_REACHED)
        room = host_place_room(size);
    if (use != HOST_PLAIN)
        preloaded = preload_host_take(preload, id, size, use >= HOST_MAPPED, address);
    own->host_places = own->host_places || room;
    memory = attach_again(job, id, size, address, room, preloaded);
    if (!memory)
        return NULL;
    user_host_charge(own->user, 0);
    host_charge_adopt(job->session, size);
    const bool late =
        (use == HOST_COPIED || use == HOST_REACHED) && !preloaded && pins_late(job, size);
    block = block_of(job, memory, size, room, late ? HOST_PLAIN : use, preloaded);
    if (block && late)
        pin_late(job, block, address);
    if (block && block->address != address) {
        job_fail(job, GS_ERR_INTERRUPTED, "kernels do not reach a host block where they did");
        host_block_free(job->session, block);
        return NULL;
    }
    if (block)
        block->id = id;
    else
        user_host_discharge(own->user, size);
    return block;
}

bool host_block_enter(struct session *session, struct host_block *block)
{
    return !block->address ||
           allocations_put(&session->memory.allocations, block->address, block->size, block);
}

gs_status host_blocks_resume(struct job *job)
{
    struct session *session = job->session;

    for (const struct journal_entry *e = NULL; (e = journal_next(session->journal, e));) {
        if (e->kind != JOURNAL_HOST)
            continue;
        if (e->key >= SEG_HOSTS || host_table_make(job) != GS_OK || session->memory.hosts[e->key])
            return job_fail(job, GS_ERR_INTERRUPTED, "a host block has no slot in its table");
        /* A segment that is gone was not attached by the tenant yet, so it had no content. The
         * tenant asks for another one. */
        if (host_segment_bytes((int)e->value[0], session->uid) != e->value[1])
            continue;
        uint64_t address;
        const enum host_use use = host_noted(e, &address);
        struct host_block *block =
            host_block_adopt(job, (int)e->value[0], e->value[1], use, address);
        if (!block)
            return job->status;
        block->serial = e->value[3];
        block->joined = host_noted_joined(e);
        session->serial = block->serial > session->serial ? block->serial : session->serial;
        session->memory.hosts[e->key] = block;
        if (!host_block_enter(session, block))
            return job_fail(job, GS_ERR_INTERRUPTED, "no memory for a host block's record");
    }
    return GS_OK;
}

static gs_status pin_now(struct job *job, struct host_block *block)
{
    const CUresult result =
        DRV(cuMemHostRegister_v2, block->memory, block->room ? block->room : block->size,
            block->address ? CU_MEMHOSTREGISTER_DEVICEMAP : 0);

    if (result)
        return job_fail_driver(job, result);
    block->late = false;
    if (block->address && !has_own_address(block))
        return job_fail(job, GS_ERR_INTERRUPTED,
                        "kernels do not reach a host block where they did");
    return GS_OK;
}

gs_status host_blocks_resume_late(struct job *job)
{
    struct host_block *const *hosts = job->session->memory.hosts;

    for (uint32_t i = 0; hosts && i < SEG_HOSTS; i++) {
        if (hosts[i] && hosts[i]->late &&
            (job_go_on(job) != GS_OK || pin_now(job, hosts[i]) != GS_OK))
            return job->status;
    }
    return GS_OK;
}

void host_blocks_deinit(struct session *session)
{
    for (uint32_t i = 0; session->memory.hosts && i < SEG_HOSTS; i++)
        host_block_free(session, session->memory.hosts[i]);
    free(session->memory.hosts);
    session->memory.hosts = NULL;
    for (struct host_block *block; (block = session->memory.resting);) {
        session->memory.resting = block->next;
        host_block_free(session, block);
    }
    session->memory.resting_count = 0;
}
