/* freed.c - see freed.h. */
#include "client/memory/freed.h"

#include <stdlib.h>

#include "client/base/error.h"
#include "client/memory/memory.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"

struct freed {
    struct freed *next;
    enum req_op op; /* REQ_FREE of an address, or the request that destroys the object of a
                       number */
    uint64_t what, size;
    uint64_t position[SEG_STREAMS]; /* when all streams have passed these, no work uses it */
};

void freed_init(struct freed_list *list)
{
    pthread_mutex_init(&list->lock, NULL);
    list->end = &list->first;
}

void freed_deinit(struct freed_list *list)
{
    while (list->first) {
        struct freed *next = list->first->next;

        free(list->first);
        list->first = next;
    }
    pthread_mutex_destroy(&list->lock);
}

/* Sets the positions to the streams' tails. Returns whether work before them is unfinished. */
static bool positions_note(struct session *session, uint64_t position[SEG_STREAMS])
{
    bool busy = false;

    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        position[i] = position_tail(session, i);
        busy = busy || !position_passed(position_complete(session, i), position[i]);
    }
    return busy;
}

static bool positions_passed(const struct session *session, const uint64_t position[SEG_STREAMS])
{
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        if (!position_passed(position_complete(session, i), position[i]))
            return false;
    }
    return true;
}

/* Adds the entry at the list's end. Returns false if the list is full. */
static bool list_add(struct freed_list *list, struct freed *freed)
{
    bool room;

    pthread_mutex_lock(&list->lock);
    room = list->count < FREED_COUNT_MAX && freed->size <= FREED_BYTES_MAX - list->bytes;
    if (room) {
        freed->next = NULL;
        *list->end = freed;
        list->end = &freed->next;
        list->bytes += freed->size;
        atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&list->lock);
    return room;
}

/* Takes all entries that no work can use any more out of the list. */
static struct freed *list_take(struct session *session, struct freed_list *list)
{
    struct freed *taken = NULL, **end = &taken, **link;

    pthread_mutex_lock(&list->lock);
    for (link = &list->first; *link;) {
        struct freed *freed = *link;

        if (!positions_passed(session, freed->position)) {
            link = &freed->next;
            continue;
        }
        *link = freed->next;
        freed->next = NULL;
        *end = freed;
        end = &freed->next;
        list->bytes -= freed->size;
        atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
    }
    list->end = link;
    pthread_mutex_unlock(&list->lock);
    return taken;
}

static gs_status server_free(struct session *session, const struct freed *freed, uint64_t how)
{
    struct sync_request request = {.op = freed->op, .arg = {freed->what, how}};

    return sync_request(session, &request);
}

/* Returns whether a free that the server has refused may succeed later: the session has work, or
 * the server had no memory for the request. */
static bool later(gs_status status)
{
    return status == GS_NOT_READY || status == GS_ERR_NO_MEMORY;
}

/* Frees an entry that was taken out of the list, or puts it back to wait for the work submitted by
 * now, since the server cannot unmap memory or unload a module while the session has work. After a
 * kernel has noted a fault nothing is freed, since the server needs the kernel's module for its
 * name. Other errors end with the entry: the session has ended, or the server has no such object,
 * and the program was told that its call succeeded. */
static void freed_end(struct session *session, struct freed *freed, uint64_t how)
{
    positions_note(session, freed->position);
    if (!fault_seen(session) && later(server_free(session, freed, how))) {
        if (list_add(&session->memory->freed, freed))
            return;
        server_free(session, freed, SEG_FREE_WAIT);
    }
    free(freed);
}

static void settle(struct session *session, uint64_t how)
{
    struct freed_list *list = &session->memory->freed;
    char message[ERROR_MESSAGE_MAX];

    /* relaxed: what another thread frees at the same time may be missed */
    if (!atomic_load_explicit(&list->count, memory_order_relaxed))
        return;
    error_keep(message);
    for (struct freed *freed = list_take(session, list), *next; freed; freed = next) {
        next = freed->next;
        freed_end(session, freed, how);
    }
    if (message[0])
        error_server(GS_OK, message);
}

void freed_settle(struct session *session)
{
    settle(session, SEG_FREE_BESIDE);
}

gs_status freed_give(struct session *session, enum req_op op, uint64_t what, uint64_t size)
{
    const struct freed freed = {.op = op, .what = what, .size = size};
    struct freed *kept = malloc(sizeof(*kept));
    gs_status status;

    freed_settle(session);
    /* From here on no thread is between looking the object up and submitting a record that uses
     * it. */
    streams_pass(session);
    if (kept) {
        *kept = freed;
        if (positions_note(session, kept->position) && session_alive(session) &&
            list_add(&session->memory->freed, kept))
            return GS_OK;
        free(kept);
    }
    status = fault_check(session, wait_all(session));
    return status == GS_OK ? server_free(session, &freed, SEG_FREE_WAIT) : status;
}

gs_status freed_give_known(struct session *session, enum req_op op, uint64_t what)
{
    const struct freed freed = {.op = op, .what = what};
    uint64_t position[SEG_STREAMS];
    gs_status status = GS_NOT_READY;

    streams_pass(session);
    if (positions_note(session, position))
        status = server_free(session, &freed, SEG_FREE_LOOK);
    return status == GS_NOT_READY ? freed_give(session, op, what, 0) : status;
}

gs_status freed_request(struct session *session, struct sync_request *request)
{
    char message[ERROR_MESSAGE_MAX];
    gs_status status;
    bool released;

    freed_settle(session);
    status = sync_request(session, request);
    if (status != GS_ERR_QUOTA && status != GS_ERR_NO_DEVICE_MEMORY && status != GS_ERR_LIMIT)
        return status;
    error_keep(message);
    released = stream_memory_release(session);
    if ((!released && !atomic_load_explicit(&session->memory->freed.count, memory_order_relaxed)) ||
        wait_all(session) != GS_OK)
        return error_server(status, message);
    settle(session, SEG_FREE_WAIT);
    return sync_request(session, request);
}
