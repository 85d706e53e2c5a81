/* physical.c - see physical.h. */
#include "worker/memory/physical.h"

#include <pthread.h>
#include <stdlib.h>

#include "worker/journal/journal.h"
#include "worker/memory/charge.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/preload.h"
#include "worker/memory/stamp.h"
#include "worker/memory/user.h"

/* The most holders of a piece. Adding or removing one looks at all of them under the lock. The
 * limit lets each of a server's sessions hold the piece. For sessions on other devices the
 * supervisor has a limit (LOAN_HOLDERS_MAX). */
#define HOLDERS_MAX LINK_SLOTS_MAX

struct physical {
    CUmemGenericAllocationHandle handle;
    uint64_t size;
    uint64_t number;
    struct holder *first;     /* oldest first */
    uint32_t holders;         /* how many there are */
    struct physical *adopted; /* the next one in the same row of `adopted` */
};

/* Protects the list of every piece's holders, and the table `adopted`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define ADOPTED_ROWS 1024u

/* By number: the pieces that a former worker made and several sessions may hold, and the pieces of
 * other devices. */
static struct physical *adopted[ADOPTED_ROWS];

CUmemGenericAllocationHandle physical_handle(const struct physical *memory)
{
    return memory->handle;
}

uint64_t physical_size(const struct physical *memory)
{
    return memory->size;
}

uint64_t physical_number(const struct physical *memory)
{
    return memory->number;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static bool is_peer(const struct physical *memory)
{
    return memory->number & PHYSICAL_PEER;
}

/* Returns what the piece adds to the device's memory in use, which its oldest holder's session
 * reports. The caller holds the lock. */
static uint64_t shown(const struct physical *memory)
{
    return is_peer(memory) ? 0 : memory->size;
}

static void shown_add(const struct holder *holder)
{
    atomic_fetch_add_explicit(&holder->session->stats->memory_used, shown(holder->memory),
                              memory_order_relaxed);
}

static void shown_take(const struct holder *holder)
{
    atomic_fetch_sub_explicit(&holder->session->stats->memory_used, shown(holder->memory),
                              memory_order_relaxed);
}

/* ---- Holding --------------------------------------------------------------------------------- */

/* Adds a holder, in the order of age. A piece of another device may have thousands of holders, and
 * nothing depends on their order, so these are added in front. The caller holds the lock. */
static void holder_link(struct physical *memory, struct holder *holder)
{
    struct holder **at = &memory->first;

    while (!is_peer(memory) && *at && (*at)->since < holder->since)
        at = &(*at)->next;
    holder->memory = memory;
    holder->next = *at;
    holder->at = at;
    *at = holder;
    if (holder->next)
        holder->next->at = &holder->next;
    memory->holders++;
}

/* The caller holds the lock. */
static void holder_unlink(const struct holder *holder)
{
    *holder->at = holder->next;
    if (holder->next)
        holder->next->at = holder->at;
    holder->memory->holders--;
}

gs_status physical_new(struct job *job, uint64_t asked, struct holder *holder)
{
    uint64_t size = device_rounded(asked);
    const struct amount amount = {asked, size, worker->granularity};
    struct physical *memory;
    CUresult result;

    if (charge(job, &amount, true) != GS_OK)
        return job->status;
    memory = calloc(1, sizeof(*memory));
    if (!memory) {
        discharge(job->session, size, true);
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    }
    result = device_create(size, &memory->handle);
    if (result) {
        free(memory);
        discharge(job->session, size, true);
        return job_fail_driver(job, result);
    }
    memory->size = size;
    memory->number = stamp();
    *holder =
        (struct holder){.session = job->session, .since = memory->number, .import = IMPORT_NONE};
    holder_link(memory, holder);
    shown_add(holder);
    return GS_OK;
}

/* Returns whether a session of the user holds the piece. The caller holds the lock. */
static bool user_holds(const struct physical *memory, const struct user *user)
{
    const struct holder *h = memory->first;

    while (h && h->session->memory.user != user)
        h = h->next;
    return h;
}

/* Returns whether the session is charged for a holder of its own that is not in the list: it is not
 * for a piece of another device, which is charged to its owner there, nor where it has another
 * holder of the piece. The caller holds the lock. */
static bool session_counts(const struct physical *memory, const struct session *session)
{
    const struct holder *h = memory->first;

    while (h && h->session != session)
        h = h->next;
    return !h && !is_peer(memory);
}

/* The caller holds the lock. */
static gs_status hold(struct job *job, struct physical *memory, uint32_t import,
                      struct holder *holder)
{
    const struct amount amount = {memory->size, memory->size, worker->granularity};

    if (!is_peer(memory) && memory->holders >= HOLDERS_MAX)
        return job_fail(job, GS_ERR_LIMIT, "the memory has %u holders, the limit", HOLDERS_MAX);
    if (session_counts(memory, job->session) &&
        charge(job, &amount, !user_holds(memory, job->session->memory.user)) != GS_OK)
        return job->status;
    *holder = (struct holder){.session = job->session, .since = stamp(), .import = import};
    holder_link(memory, holder);
    return GS_OK;
}

gs_status physical_hold(struct job *job, struct physical *memory, uint32_t import,
                        struct holder *holder)
{
    pthread_mutex_lock(&lock);
    hold(job, memory, import, holder);
    pthread_mutex_unlock(&lock);
    return job->status;
}

static void physical_free(struct physical *memory)
{
    DRV_MUST(cuMemRelease, memory->handle);
    free(memory);
}

/* ---- Taking over ----------------------------------------------------------------------------- */

/* Returns the link to the adopted piece, or to where it would be inserted. The caller holds the
 * lock. */
static struct physical **adopted_at(uint64_t number)
{
    struct physical **at = &adopted[number % ADOPTED_ROWS];

    while (*at && (*at)->number != number)
        at = &(*at)->adopted;
    return at;
}

/* Adds a holder of a former worker's and charges it, even beyond a limit: the session has the
 * memory already, and a limit that was lowered only stops further allocations. The caller holds the
 * lock. */
static void holder_adopt(struct session *session, struct physical *memory, struct holder *holder)
{
    if (session_counts(memory, session)) {
        if (!user_holds(memory, session->memory.user))
            user_charge(session->memory.user, memory->size, 0);
        session->memory.used += memory->size;
    }
    holder->session = session;
    holder_link(memory, holder);
    if (memory->first == holder) {
        if (holder->next)
            shown_take(holder->next);
        shown_add(holder);
    }
}

/* Adds the holder to the adopted piece with this number. False: no session has adopted it yet. */
static bool adopted_join(struct session *session, uint64_t number, struct holder *holder)
{
    struct physical *memory;

    pthread_mutex_lock(&lock);
    memory = *adopted_at(number);
    if (memory)
        holder_adopt(session, memory, holder);
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Adds the holder to the piece or, if another session has adopted the same memory meanwhile, to
 * that session's piece. Returns false in the latter case: `memory` is then not needed. */
static bool adopted_add(struct session *session, struct physical *memory, bool lent,
                        struct holder *holder)
{
    struct physical **at;
    bool first = true;

    pthread_mutex_lock(&lock);
    if (lent) {
        at = adopted_at(memory->number);
        first = !*at;
        if (first)
            *at = memory;
        else
            memory = *at;
    }
    holder_adopt(session, memory, holder);
    pthread_mutex_unlock(&lock);
    return first;
}

static CUresult handle_of(const struct chunk_source *source, CUmemGenericAllocationHandle *handle)
{
    if (source->preloaded) {
        *handle = preload_handle_take(source->preloaded);
        return CUDA_SUCCESS;
    }
    return DRV(cuMemImportFromShareableHandle, handle, (void *)(intptr_t)source->descriptor,
               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

gs_status physical_adopt(struct job *job, const struct chunk_source *source, uint64_t size,
                         uint64_t number, bool lent, struct holder *holder)
{
    struct physical *memory;
    CUresult result;

    if (lent && adopted_join(job->session, number, holder))
        return GS_OK;
    memory = calloc(1, sizeof(*memory));
    if (!memory)
        return job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an allocation's record");
    memory->size = size;
    memory->number = number;
    result = handle_of(source, &memory->handle);
    if (result) {
        free(memory);
        return job_fail_driver(job, result);
    }
    if (!adopted_add(job->session, memory, lent, holder))
        physical_free(memory);
    return GS_OK;
}

/* ---- Of other devices ------------------------------------------------------------------------ */

/* Makes a piece of another device, which has no holder yet. NULL: the job has failed. */
static struct physical *peer_new(struct job *job, const struct peer_piece *piece)
{
    struct physical *memory = calloc(1, sizeof(*memory));
    CUresult result;

    if (!memory) {
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for an import's record");
        return NULL;
    }
    memory->size = piece->size;
    memory->number = piece->number;
    result = DRV(cuMemImportFromShareableHandle, &memory->handle,
                 (void *)(intptr_t)piece->descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (!result)
        return memory;
    job_fail_driver(job, result);
    free(memory);
    return NULL;
}

/* Adds a holder to the piece with this number if a session holds it, else to `made`, if that is not
 * NULL. Returns whether `made` is used. */
static bool peer_hold(struct job *job, uint64_t number, struct physical *made, uint32_t import,
                      struct holder *holder)
{
    struct physical **at;
    bool used = false;

    pthread_mutex_lock(&lock);
    at = adopted_at(number);
    if (*at) {
        hold(job, *at, import, holder);
    } else if (made && hold(job, made, import, holder) == GS_OK) {
        *at = made;
        used = true;
    }
    pthread_mutex_unlock(&lock);
    return used;
}

gs_status physical_hold_peer(struct job *job, const struct peer_piece *piece, uint32_t import,
                             struct holder *holder)
{
    struct physical *made;

    peer_hold(job, piece->number, NULL, import, holder);
    if (job->status != GS_OK || holder->memory)
        return job->status;
    made = peer_new(job, piece);
    if (made && !peer_hold(job, piece->number, made, import, holder))
        physical_free(made);
    return job->status;
}

/* ---- Letting go ------------------------------------------------------------------------------ */

void physical_release(struct holder *holder)
{
    struct physical *memory = holder->memory;
    bool last, oldest;

    pthread_mutex_lock(&lock);
    oldest = memory->first == holder;
    holder_unlink(holder);
    last = !memory->first;
    if (oldest && !holder->resting) {
        shown_take(holder);
        if (!last)
            shown_add(memory->first);
    }
    if (!holder->resting && session_counts(memory, holder->session))
        discharge(holder->session, memory->size, !user_holds(memory, holder->session->memory.user));
    if (last && *adopted_at(memory->number) == memory)
        *adopted_at(memory->number) = memory->adopted;
    pthread_mutex_unlock(&lock);
    *holder = (struct holder){.import = holder->import};
    if (last)
        physical_free(memory);
}

/* The chunk has no exports any more, so no session can join while the piece rests. */
bool physical_rest(struct holder *holder)
{
    struct physical *memory = holder->memory;

    pthread_mutex_lock(&lock);
    holder->resting = memory->first == holder && !holder->next;
    pthread_mutex_unlock(&lock);
    if (!holder->resting)
        return false;
    shown_take(holder);
    discharge(holder->session, memory->size, true);
    return true;
}

gs_status physical_wake(struct job *job, uint64_t asked, struct holder *holder)
{
    const uint64_t size = holder->memory->size;
    const struct amount amount = {asked, size, worker->granularity};

    if (charge(job, &amount, true) != GS_OK)
        return job->status;
    shown_add(holder);
    holder->resting = false;
    return GS_OK;
}

/* ---- Revoking -------------------------------------------------------------------------------- */

static void chores_free(struct job *first)
{
    while (first) {
        struct job *chore = first;
        struct session *session = chore->object;

        session->memory.unsharing = false;
        first = chore->next;
        job_free(chore);
    }
}

static void chores_return(struct job *first)
{
    while (first) {
        struct job *chore = first;
        first = chore->next;
        job_return(chore);
    }
}

/* Makes a job_unshare chore for each session that holds the piece, except the owner's. A session
 * with a chore that has not begun needs no other. Returns false when there is no memory for all of
 * them. The caller holds the lock. */
static bool chores_make(const struct physical *memory, const struct holder *owner,
                        struct job **first)
{
    for (const struct holder *h = memory->first; h; h = h->next) {
        struct job *chore;

        if (h == owner || h->revoked || h->session->memory.unsharing)
            continue;
        chore = job_new_chore(h->session, &job_unshare);
        if (!chore)
            return false;
        h->session->memory.unsharing = true;
        chore->object = h->session;
        chore->next = *first;
        *first = chore;
    }
    return true;
}

/* The caller holds the lock. */
static void holders_revoke(struct physical *memory, const struct holder *owner)
{
    for (struct holder *h = memory->first; h; h = h->next) {
        if (h == owner || h->revoked)
            continue;
        h->revoked = true;
        if (h->import != IMPORT_NONE)
            journal_revoked_set(h->session->journal, h->import, true);
    }
}

/* All chores are made before any session is told, so that revoking does not fail half-way. */
gs_status physical_revoke(struct job *job, const struct holder *owner)
{
    struct job *first = NULL;

    pthread_mutex_lock(&lock);
    if (chores_make(owner->memory, owner, &first)) {
        holders_revoke(owner->memory, owner);
    } else {
        chores_free(first);
        first = NULL;
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory to tell those who hold it");
    }
    pthread_mutex_unlock(&lock);
    chores_return(first);
    return job->status;
}

/* A session for whose chore there is no memory lets go of the piece in its next job_unshare. */
void physical_revoke_peer(uint64_t number)
{
    struct job *first = NULL;
    struct physical *memory;

    pthread_mutex_lock(&lock);
    memory = *adopted_at(number);
    if (memory) {
        chores_make(memory, NULL, &first);
        holders_revoke(memory, NULL);
    }
    pthread_mutex_unlock(&lock);
    chores_return(first);
}

void physical_unshare_begin(struct session *session)
{
    pthread_mutex_lock(&lock);
    session->memory.unsharing = false;
    pthread_mutex_unlock(&lock);
}

bool physical_revoked(const struct holder *holder)
{
    bool revoked;

    pthread_mutex_lock(&lock);
    revoked = holder->revoked;
    pthread_mutex_unlock(&lock);
    return revoked;
}
