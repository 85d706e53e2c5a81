/* vault_export.c - see vault_export.h. */
#include "worker/memory/vault_export.h"

#include <pthread.h>
#include <unistd.h>

#include "common/log.h"
#include "worker/driver/lost.h"
#include "worker/driver/supervisor_link.h"

static struct {
    /* Protects the queue. Held while a descriptor is made and sent, so that the message that drops
     * a chunk comes after the one that puts it in. */
    pthread_mutex_t lock;
    struct chunk *first;
    _Atomic uint32_t count; /* chunks in the queue */
    _Atomic bool busy;      /* a thread is emptying the queue */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void message_send(enum link_op op, const struct chunk *chunk, int descriptor)
{
    struct link_message message = {.op = op, .slot = chunk->holder.session->slot};

    message.u.vault = (struct link_vault){chunk->address, chunk->size};
    link_send(&message, descriptor);
}

void vault_export_add(struct job *job, struct chunk *chunk)
{
    job->after = vault_export_flush;
    pthread_mutex_lock(&queue.lock);
    chunk->queued = true;
    chunk->next_queued = queue.first;
    queue.first = chunk;
    /* seq_cst: counts before this thread's look at `busy`, in vault_export_flush */
    atomic_fetch_add(&queue.count, 1);
    pthread_mutex_unlock(&queue.lock);
}

/* Takes a chunk out of the queue. Under the lock. */
static void queue_remove(struct chunk *chunk)
{
    struct chunk **at = &queue.first;

    while (*at != chunk)
        at = &(*at)->next_queued;
    *at = chunk->next_queued;
    chunk->queued = false;
    atomic_fetch_sub(&queue.count, 1);
}

void vault_export_remove(struct chunk *chunk)
{
    pthread_mutex_lock(&queue.lock);
    if (chunk->queued)
        queue_remove(chunk);
    else
        message_send(LINK_VAULT_DROP, chunk, -1);
    pthread_mutex_unlock(&queue.lock);
}

/* Sends the chunk's descriptor to the vault. On failure the memory stays usable, but cannot outlive
 * this process. */
static void chunk_export(const struct chunk *chunk)
{
    int descriptor = -1;
    CUresult result =
        DRV(cuMemExportToShareableHandle, &descriptor, physical_handle(chunk->holder.memory),
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

    if (driver_fatal(result))
        device_lost(result);
    if (result) {
        char text[128];
        driver_describe(text, sizeof(text));
        log_warning("session %llu: no descriptor of its memory: %s",
                    (unsigned long long)chunk->holder.session->id, text);
        return;
    }
    message_send(LINK_VAULT_PUT, chunk, descriptor);
    close(descriptor);
}

static void first_export(void)
{
    pthread_mutex_lock(&queue.lock);
    struct chunk *chunk = queue.first;
    if (chunk) {
        queue_remove(chunk);
        chunk_export(chunk);
    }
    pthread_mutex_unlock(&queue.lock);
}

void vault_export_flush(void)
{
    /* seq_cst on all: a thread that adds a chunk may find another thread busy, while that thread
     * clears `busy` and then looks at the count. One of the two sees the other's store. */
    while (atomic_load(&queue.count) > 0) {
        if (atomic_exchange(&queue.busy, true))
            return;
        while (atomic_load(&queue.count) > 0)
            first_export();
        atomic_store(&queue.busy, false);
    }
}
