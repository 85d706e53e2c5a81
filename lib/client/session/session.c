/*
 * session.c - see session.h.
 *
 * After fork() the child has its own copy of the table, and mappings of the parent's segments. The
 * child's fork handler empties the table and unmaps the segments, so that the child neither
 * disturbs the parent's sessions nor keeps their memory alive. Handles up to the generation of the
 * fork count as the parent's from then on. The child leaves the sessions' heap memory alone,
 * because a thread that does not exist in the child may have been changing it.
 */
#include "client/session/session.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "client/base/backoff.h"
#include "client/base/error.h"

#define SHARDS_LOG 5
#define SHARDS     (1u << SHARDS_LOG)

struct slot {
    struct session *_Atomic session; /* the session that handles find; NULL: none */
    struct session *owner;           /* the session that has the slot, also while it is made or
                                        freed; under table_lock */
    struct {
        alignas(64) _Atomic uint32_t inside;
    } shard[SHARDS];
};

static struct slot slots[HANDLE_SESSIONS];
/* Guards owners and mappings. The fork handler takes it, so that the child knows every mapping. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error;             /* of pthread_atfork; 0: the handlers are registered */
static uint32_t parent_generation; /* the parent process's last generation; 0: not forked */
/* Sessions of the parent, kept reachable so that leak checkers do not report them. */
static struct session *parent_sessions[HANDLE_SESSIONS];

/* An address that belongs to the calling thread alone; without a function call if the compiler has
 * the builtin. */
#if defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 11
#define THREAD_ADDRESS() ((uintptr_t)__builtin_thread_pointer())
#else
#define THREAD_ADDRESS() ((uintptr_t)pthread_self())
#endif

/* Returns the shard in which the calling thread counts. The shard is a hash of the thread's
 * address, because the library has no thread-local variables (error.c). The address lies at the end
 * of the thread's stack. The factor was found by trial: with it, 16 threads whose stacks of 64 KiB
 * to 64 MiB follow each other have different shards. */
static uint32_t shard_of_thread(void)
{
    return (uint32_t)((uint64_t)(THREAD_ADDRESS() >> 12) * 0x642C2CA710BFE7C5u >>
                      (64 - SHARDS_LOG));
}

/* ---- fork ---- */

static void fork_prepare(void)
{
    pthread_mutex_lock(&table_lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&table_lock);
}

/* Async-signal-safe: only system calls and stores. */
static void session_abandon(struct session *session)
{
    for (unsigned i = 0; i < MAPPED_SLOTS; i++) {
        if (session->mapped[i])
            shmdt(session->mapped[i]);
    }
    if (session->window_reserved)
        munmap((void *)(uintptr_t)session->info.window_base, // NOLINT: as session_reserve_window
               session->info.window_size);
    if (session->bell >= 0)
        mq_close(session->bell);
    control_close(&session->control);
}

static void fork_child(void)
{
    for (unsigned i = 0; i < HANDLE_SESSIONS; i++) {
        struct slot *slot = &slots[i];
        if (!slot->owner)
            continue;
        session_abandon(slot->owner);
        parent_sessions[i] = slot->owner;
        slot->owner = NULL;
        atomic_store_explicit(&slot->session, NULL, memory_order_relaxed);
        for (unsigned n = 0; n < SHARDS; n++)
            atomic_store_explicit(&slot->shard[n].inside, 0, memory_order_relaxed);
    }
    parent_generation = handle_generation_last();
    pthread_mutex_unlock(&table_lock);
}

static void fork_register(void)
{
    fork_error = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- The table ---- */

gs_status session_slot_take(struct session *session)
{
    uint32_t i = 0;

    pthread_once(&fork_once, fork_register);
    if (fork_error)
        return error_set(GS_ERR_NO_MEMORY, "pthread_atfork: %s", strerror(fork_error));
    pthread_mutex_lock(&table_lock);
    while (i < HANDLE_SESSIONS && slots[i].owner)
        i++;
    if (i < HANDLE_SESSIONS) {
        slots[i].owner = session;
        session->index = i;
    }
    pthread_mutex_unlock(&table_lock);
    if (i == HANDLE_SESSIONS)
        return error_set(GS_ERR_LIMIT, "this process has %u sessions, the limit", HANDLE_SESSIONS);
    return GS_OK;
}

void session_slot_give(const struct session *session)
{
    pthread_mutex_lock(&table_lock);
    slots[session->index].owner = NULL;
    pthread_mutex_unlock(&table_lock);
}

void session_publish(struct session *session)
{
    /* release: pairs with the load in session_enter; the session is complete before. */
    atomic_store_explicit(&slots[session->index].session, session, memory_order_release);
}

static const char *kind_text(enum handle_kind kind)
{
    static const char *const text[] = {
        [HANDLE_SESSION] = "session", [HANDLE_STREAM] = "stream", [HANDLE_EVENT] = "event",
        [HANDLE_MODULE] = "module",   [HANDLE_KERNEL] = "kernel", [HANDLE_GRAPH] = "graph",
        [HANDLE_ARRAY] = "array",
    };
    static_assert(sizeof(text) / sizeof(text[0]) == HANDLE_KINDS, "each kind has its text");

    return text[kind];
}

gs_status handle_unknown(struct handle handle, const char *what)
{
    uint64_t value = handle_encode(handle.kind, handle.session, handle.slot, handle.generation);

    if (parent_generation && handle.generation &&
        (int32_t)(handle.generation - parent_generation) <= 0)
        return error_set(GS_ERR_FORKED,
                         "%s handle 0x%llx belongs to the parent process; attach anew after fork",
                         what, (unsigned long long)value);
    if (!value)
        return error_set(GS_ERR_INVALID_HANDLE, "the %s handle is NULL", what);
    return error_set(GS_ERR_INVALID_HANDLE, "%s handle 0x%llx names nothing, or nothing any more",
                     what, (unsigned long long)value);
}

gs_status session_enter(struct handle handle, enum handle_kind kind, struct session **session)
{
    struct slot *slot = &slots[handle.session];
    uint32_t shard = shard_of_thread();
    struct session *found;

    if (handle.kind != kind)
        return handle_unknown(handle, kind_text(kind));
    /* seq_cst: the count is raised, then the slot read. session_withdraw empties the slot, then
     * reads the counts. So one of the two sees the other. */
    atomic_fetch_add_explicit(&slot->shard[shard].inside, 1, memory_order_seq_cst);
    found = atomic_load_explicit(&slot->session, memory_order_seq_cst);
    if (found &&
        (kind != HANDLE_SESSION || (found->generation == handle.generation && handle.slot == 0))) {
        *session = found;
        return GS_OK;
    }
    atomic_fetch_sub_explicit(&slot->shard[shard].inside, 1, memory_order_release);
    return handle_unknown(handle, kind_text(kind));
}

void session_leave(const struct session *session)
{
    /* release: pairs with session_withdraw; the call's accesses to the session come before it. A
     * call begins and ends in one thread, so this is the shard in which the thread was counted
     * in. */
    atomic_fetch_sub_explicit(&slots[session->index].shard[shard_of_thread()].inside, 1,
                              memory_order_release);
}

gs_status session_withdraw(struct handle handle, struct session **session)
{
    struct slot *slot = &slots[handle.session];
    struct session *expected;
    struct backoff backoff = BACKOFF_INIT;
    gs_status status = session_enter(handle, HANDLE_SESSION, session);

    if (status != GS_OK)
        return status;
    expected = *session;
    bool mine = atomic_compare_exchange_strong_explicit(&slot->session, &expected, NULL,
                                                        memory_order_seq_cst, memory_order_relaxed);
    session_leave(*session);
    if (!mine)
        return handle_unknown(handle, kind_text(HANDLE_SESSION));
    for (unsigned n = 0; n < SHARDS; n++) {
        /* seq_cst: see session_enter. It also acquires the last leaver's release. */
        while (atomic_load_explicit(&slot->shard[n].inside, memory_order_seq_cst))
            backoff_pause(&backoff);
    }
    return GS_OK;
}

/* ---- One session ---- */

void session_reserve_window(struct session *session)
{
    void *base = (void *)(uintptr_t)session->info.window_base; // NOLINT: the server chose it
    void *got = mmap(base, session->info.window_size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    session->window_reserved = got == base;
    if (got != base && got != MAP_FAILED) /* a kernel that does not know the flag */
        munmap(got, session->info.window_size);
}

static bool in_window(const struct session *session, uint64_t address, uint64_t size)
{
    return session->window_reserved && size <= session->info.window_size &&
           address - session->info.window_base <= session->info.window_size - size;
}

/* Attaches the segment over addresses of the window. Returns false if `at` is not in the reserved
 * window or the call fails. */
static bool window_attach(struct session *session, unsigned slot, int id, uint64_t at)
{
    struct shmid_ds about;

    if (shmctl(id, IPC_STAT, &about) < 0 || !in_window(session, at, about.shm_segsz) ||
        shmat(id, (void *)(uintptr_t)at, SHM_REMAP) == (void *)-1) // NOLINT: an address
        return false;
    session->mapped_bytes[slot] = about.shm_segsz;
    return true;
}

gs_status session_map(struct session *session, unsigned slot, int id, uint64_t at, int flags,
                      const char *what, void **address)
{
    void *mapped = (void *)-1;

    pthread_mutex_lock(&table_lock);
    session->mapped_bytes[slot] = 0;
    if (at && window_attach(session, slot, id, at))
        mapped = (void *)(uintptr_t)at; // NOLINT: the device's address
    else if (at)
        mapped = shmat(id, (void *)(uintptr_t)at, flags); // NOLINT: likewise
    if (mapped == (void *)-1)
        mapped = shmat(id, NULL, flags);
    if (mapped != (void *)-1)
        session->mapped[slot] = mapped;
    pthread_mutex_unlock(&table_lock);
    if (mapped == (void *)-1)
        return error_system(what);
    *address = mapped;
    return GS_OK;
}

void session_unmap(struct session *session, unsigned slot, void *address)
{
    bool own;

    pthread_mutex_lock(&table_lock);
    own = session->mapped[slot] == address;
    if (own && session->mapped_bytes[slot])
        mmap(address, session->mapped_bytes[slot], PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        shmdt(address);
    if (own)
        session->mapped[slot] = NULL;
    pthread_mutex_unlock(&table_lock);
}

gs_status session_trouble(const struct session *session)
{
    uint32_t owner = atomic_load_explicit(&session->page->owner, memory_order_relaxed);
    uint32_t state = atomic_load_explicit(&session->server_page->state, memory_order_acquire);
    const struct seg_fault *fault = &session->server_page->fault;
    gs_status status = (gs_status)fault->status;

    if (!owner || owner & STATUS_OWNER_DIED)
        return error_set(GS_ERR_SERVER_LOST, "the gshare server '%s' (pid %d) has ended",
                         session->control.instance, session->info.server_pid);
    if (state == SEG_CLOSED)
        return error_set(GS_ERR_INVALID_HANDLE, "the server has closed session %llu",
                         (unsigned long long)session->info.session_id);
    if (state != SEG_FAULTED && state != SEG_LOST)
        return error_set(GS_ERR_PROTOCOL, "session %llu is in state %u, which means nothing",
                         (unsigned long long)session->info.session_id, state);
    if (status == GS_OK)
        status = state == SEG_FAULTED ? GS_ERR_FAULT : GS_ERR_INTERRUPTED;
    if (fault->message[0])
        return error_set(status, "%.*s", (int)sizeof(fault->message), fault->message);
    return error_server(status, "");
}

gs_status session_use(struct handle handle, enum handle_kind kind, struct session **session)
{
    gs_status status = session_enter(handle, kind, session);

    if (status == GS_OK && !session_alive(*session)) {
        status = session_trouble(*session);
        print_deliver(&(*session)->printing); /* an assertion's message tells the cause */
        session_leave(*session);
    }
    return status;
}

/* ---- Objects ---- */

static struct handle_table *table_of(struct session *session, enum handle_kind kind)
{
    switch (kind) {
    case HANDLE_EVENT:
        return &session->events;
    case HANDLE_MODULE:
        return &session->modules;
    case HANDLE_GRAPH:
        return &session->graphs;
    default:
        return &session->arrays;
    }
}

gs_status object_publish(struct session *session, enum handle_kind kind, void *object,
                         uint64_t *handle)
{
    struct handle_table *table = table_of(session, kind);
    enum handle_insert_result result;
    uint32_t slot, generation;

    pthread_mutex_lock(&session->object_lock);
    result = handle_insert(table, object, &slot, &generation);
    pthread_mutex_unlock(&session->object_lock);
    if (result == HANDLE_FULL)
        return error_set(GS_ERR_LIMIT, "the session has %u %ss, the limit", table->capacity,
                         kind_text(kind));
    if (result == HANDLE_NO_MEMORY)
        return error_set(GS_ERR_NO_MEMORY, "no memory for the handle of another %s",
                         kind_text(kind));
    *handle = handle_encode(kind, session->index, slot, generation);
    return GS_OK;
}

void *object_find(struct session *session, enum handle_kind kind, const void *handle)
{
    const struct handle h = handle_decode(handle);

    return h.kind == kind && h.session == session->index
               ? handle_lookup(table_of(session, kind), h.slot, h.generation)
               : NULL;
}

void *object_retire(struct session *session, struct handle handle)
{
    struct handle_table *table = table_of(session, handle.kind);
    void *object;

    pthread_mutex_lock(&session->object_lock);
    object = handle_lookup(table, handle.slot, handle.generation);
    if (object)
        handle_retire(table, handle.slot, handle.generation);
    pthread_mutex_unlock(&session->object_lock);
    return object;
}

void object_release(struct session *session, struct handle handle)
{
    pthread_mutex_lock(&session->object_lock);
    handle_release(table_of(session, handle.kind), handle.slot);
    pthread_mutex_unlock(&session->object_lock);
}

gs_status session_module(struct session *session, struct handle handle, uint32_t *id)
{
    const struct module *module;

    pthread_mutex_lock(&session->object_lock);
    module = handle_lookup(&session->modules, handle.slot, handle.generation);
    if (module)
        *id = module->id;
    pthread_mutex_unlock(&session->object_lock);
    return module ? GS_OK : handle_unknown(handle, "module");
}
