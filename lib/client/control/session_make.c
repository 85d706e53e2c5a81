/*
 * session_make.c - see session_make.h. This file stands above the folders whose parts a session
 * holds, so that session/ needs to know none of them.
 */
#include "client/control/session_make.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "client/base/error.h"
#include "client/memory/memory.h"
#include "client/submit/graph_changes.h"
#include "client/submit/recording.h"

static void objects_free(struct handle_table *table)
{
    for (uint32_t slot = 0; slot < table->made; slot++)
        free(handle_at(table, slot));
    handle_table_deinit(table);
}

static void graphs_free(struct handle_table *table)
{
    for (uint32_t slot = 0; slot < table->made; slot++) {
        struct graph *graph = handle_at(table, slot);
        if (graph)
            graph_changes_free(graph->changes);
    }
    objects_free(table);
}

static void session_deinit(struct session *session)
{
    objects_free(&session->kernels);
    objects_free(&session->modules);
    objects_free(&session->events);
    graphs_free(&session->graphs);
    objects_free(&session->arrays);
    for (unsigned i = 0; i < SEG_STREAMS; i++) {
        recording_free(atomic_load_explicit(&session->stream[i].recording, memory_order_relaxed));
        pthread_mutex_destroy(&session->stream[i].lock);
    }
    if (session->bell >= 0)
        mq_close(session->bell);
    control_close(&session->control);
    memory_free(session->memory);
    pthread_mutex_destroy(&session->request_lock);
    waits_deinit(&session->waits);
    pthread_mutex_destroy(&session->object_lock);
    pthread_mutex_destroy(&session->report_lock);
    printing_deinit(&session->printing);
}

static void session_init(struct session *session)
{
    session->generation = handle_generation();
    session->bell = -1;
    session->control.queue = -1;
    for (unsigned i = 0; i < SEG_STREAMS; i++) {
        pthread_mutex_init(&session->stream[i].lock, NULL);
        session->stream[i].number = i;
    }
    pthread_mutex_init(&session->request_lock, NULL);
    waits_init(&session->waits);
    pthread_mutex_init(&session->object_lock, NULL);
    pthread_mutex_init(&session->report_lock, NULL);
    printing_init(&session->printing);
    handle_table_init(&session->events, SEG_EVENTS);
    handle_table_init(&session->modules, SEG_MODULES);
    handle_table_init(&session->kernels, SEG_KERNELS);
    handle_table_init(&session->graphs, SEG_GRAPHS);
    handle_table_init(&session->arrays, SEG_ARRAYS);
}

gs_status session_new(struct session **session)
{
    struct session *made = aligned_alloc(alignof(struct session), sizeof(struct session));
    gs_status status;

    if (!made)
        return error_set(GS_ERR_NO_MEMORY, "no memory for a session of %zu bytes", sizeof(*made));
    memset(made, 0, sizeof(*made));
    session_init(made);
    made->memory = memory_new();
    status = made->memory ? session_slot_take(made)
                          : error_set(GS_ERR_NO_MEMORY, "no memory for a session's tables");
    if (status != GS_OK) {
        session_deinit(made);
        free(made);
        return status;
    }
    *session = made;
    return GS_OK;
}

void session_free(struct session *session)
{
    if (!session)
        return;
    for (unsigned i = 0; i < MAPPED_SLOTS; i++) {
        if (session->mapped[i])
            session_unmap(session, i, session->mapped[i]);
    }
    if (session->window_reserved)
        munmap((void *)(uintptr_t)session->info.window_base, // NOLINT: the window's address
               session->info.window_size);
    session_deinit(session);
    session_slot_give(session);
    free(session);
}
