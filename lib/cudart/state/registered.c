/*
 * registered.c - see registered.h. One lock guards the exchanges.
 *
 * An exchange happens while other threads may use the memory, and whatever else is in its first and
 * last page. While the bytes are copied, the pages are protected: a thread that writes there
 * faults, and waits in the handler until the pages are exchanged. The kernel replaces the pages in
 * one step. A system call that writes there meanwhile fails with EFAULT.
 *
 * The waiting thread may hold any lock, for example malloc's if the page contains the header of a
 * heap block. So the handler takes no lock and asks no other thread. It only waits for the turn,
 * which consists of the copy and system calls: no lock, no heap, no stdio, no signal. The handler
 * never waits for the lock of the exchanges, so the heap may be used while that lock is held.
 */
#include "cudart/state/registered.h"

#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cudart/base/error.h"
#include "cudart/state/device.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/pager.h"

struct exchange {
    struct exchange *next;
    uintptr_t start;  /* address of the first page */
    size_t size;      /* of whole pages */
    void *registered; /* the address that the program registered */
    void *block;      /* from gs_host_alloc */
    gs_devptr there;  /* the block's address for kernels */
    unsigned device;  /* the number of the device whose session has the block */
    unsigned joined;  /* bit mask: devices that have joined it (gs_host_join) */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exchange *exchanges;
static atomic_bool any; /* there has been an exchange */
/* The range that contains all pages that were ever exchanged. */
static atomic_uintptr_t lowest = UINTPTR_MAX, highest;
static _Atomic uint32_t turn; /* odd: pages are protected now */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error; /* result of pthread_atfork; 0: the handlers are registered */

/* ---- What the process has mapped ------------------------------------------------------------- */

/* The address of the thread's robust list. glibc keeps it above the thread's stack, in the same
 * mapping, whoever has allocated the stack. 0: the kernel does not tell. */
static uintptr_t thread_head(pid_t thread)
{
    void *head = NULL;
    size_t size;

    if (syscall(SYS_get_robust_list, thread, &head, &size) < 0)
        return 0;
    return (uintptr_t)head;
}

/* Whether the mapping contains the stack of a thread and the pages from START on may belong to it.
 * A thread whose stack is protected could not wait: the handler's frame would have no place. The
 * first thread's stack is named in /proc/self/maps. */
static bool has_stack(uintptr_t from, uintptr_t to, uintptr_t start)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    bool found = false;

    while (threads != NULL && !found && (entry = readdir(threads)) != NULL) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        const uintptr_t head = thread > 0 && thread != getpid() ? thread_head(thread) : 0;

        found = head >= from && head < to && head >= start;
    }
    if (threads != NULL)
        closedir(threads);
    return found || threads == NULL;
}

/* Reads a line; a part that does not fit is dropped. */
static bool line_read(FILE *file, char *line, int size)
{
    int byte = 0;

    if (fgets(line, size, file) == NULL)
        return false;
    if (strchr(line, '\n') == NULL) {
        while (byte != '\n' && byte != EOF)
            byte = fgetc(file);
    }
    return true;
}

/* Whether all of the pages are readable, writable, and mapped as SHARED says. A stack never
 * qualifies. */
static bool pages_are(uintptr_t start, size_t size, char shared)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[256], way[5];
    unsigned long from, to;
    uintptr_t at = start;

    while (maps != NULL && at < start + size && line_read(maps, line, sizeof(line))) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, way) != 3)
            break;
        if (to <= at)
            continue;
        if (from > at || way[0] != 'r' || way[1] != 'w' || way[3] != shared ||
            strstr(line, "[stack]") != NULL || (shared == 'p' && has_stack(from, to, start)))
            break;
        at = to;
    }
    if (maps != NULL)
        fclose(maps);
    return at >= start + size;
}

/* ---- A turn: pages are protected, and other threads wait ------------------------------------- */

/* A signal handler of the program could write meanwhile, and wait for the thread that it
 * interrupted. So signals are blocked. */
static void turn_begin(uintptr_t start, size_t size, sigset_t *kept)
{
    sigset_t all;

    if (start < atomic_load(&lowest))
        atomic_store(&lowest, start);
    if (start + size > atomic_load(&highest))
        atomic_store(&highest, start + size);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, kept);
    atomic_fetch_add(&turn, 1);
}

static void turn_end(const sigset_t *kept)
{
    atomic_fetch_add(&turn, 1);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    pthread_sigmask(SIG_SETMASK, kept, NULL);
}

/* The kernel writes the page's first word back unchanged, in one step, so no other thread's write
 * is lost. */
static bool is_writable(uintptr_t page)
{
    uint32_t nobody = 0;

    return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 0, NULL, page,
                   FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

/* Called by the handler when a write has hit a protected page. By now the turn may be over, and the
 * next one may have begun. */
static bool fault_wait(const void *address)
{
    const uintptr_t page = (uintptr_t)address & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

    if (page < atomic_load(&lowest) || page >= atomic_load(&highest))
        return false;
    for (;;) {
        const uint32_t now = atomic_load(&turn);

        if (now % 2 != 0)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
        else if (is_writable(page))
            return true;
        else if (atomic_load(&turn) == now)
            return false;
    }
}

/* ---- Exchanging: the lock is held ------------------------------------------------------------ */

/* Copies whole pages. memcpy could be a sanitizer's, which rejects bytes beside the program's
 * memory and takes locks. */
__attribute__((no_sanitize("address", "thread"))) static void pages_copy(
    volatile uint64_t *to, const volatile uint64_t *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*to); i++)
        to[i] = from[i];
}

/* Replaces the pages by the mapping at FROM, or, if SHARED, by a second mapping of its pages, and
 * keeps their contents. */
static bool pages_exchange(uintptr_t start, size_t size, void *from, bool shared)
{
    void *pages = (void *)start; // NOLINT: an address of the program's
    bool done = false;
    sigset_t kept;

    turn_begin(start, size, &kept);
    if (mprotect(pages, size, PROT_READ) == 0) {
        pages_copy(from, pages, size);
        done = mremap(from, shared ? 0 : size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages;
    }
    if (!done) /* some of the pages may still be protected */
        mprotect(pages, size, PROT_READ | PROT_WRITE);
    turn_end(&kept);
    return done;
}

static bool pages_give_back(const struct exchange *e)
{
    void *own = mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (own == MAP_FAILED)
        return false;
    if (pages_exchange(e->start, e->size, own, false))
        return true;
    munmap(own, e->size);
    return false;
}

/* ---- A child of a fork: its pages are its own, as any other ---------------------------------- */

static void fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
    for (const struct exchange *e = exchanges; e != NULL; e = e->next)
        pages_give_back(e);
    exchanges = NULL;
    pthread_mutex_unlock(&lock);
}

static void fork_register(void)
{
    fork_error = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- What is called -------------------------------------------------------------------------- */

static struct exchange *exchange_of(void *ptr)
{
    struct exchange *e = exchanges;

    while (e != NULL && e->registered != ptr)
        e = e->next;
    return e;
}

/* NULL: *why. */
static struct exchange *exchange_make(void *ptr, size_t size, const char **why)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)ptr;
    const uintptr_t start = at / page * page, end = (at + size + page - 1) / page * page;
    struct exchange *e;
    cudaError_t error;

    *why = "cudaHostGetDevicePointer of registered memory that is no private memory of the "
           "process's own, or a thread's stack, or that shares a page with other registered memory";
    if (!pages_are(start, end - start, 'p') || ((uintptr_t)&e >= start && (uintptr_t)&e < end))
        return NULL;
    *why = "cudaHostGetDevicePointer of registered memory that has no place in the window";
    e = calloc(1, sizeof(*e));
    if (e == NULL)
        return NULL;
    *e = (struct exchange){
        .start = start, .size = end - start, .registered = ptr, .device = device_number()};
    error = device_host_error(gs_host_alloc(device_session(), e->size, &e->block));
    if (error != cudaSuccess) {
        if (error == cudaErrorMemoryAllocation)
            *why = NULL;
        free(e);
        return NULL;
    }
    pthread_once(&fork_once, fork_register);
    if (gs_host_device_ptr(device_session(), e->block, &e->there) == GS_OK && fork_error == 0 &&
        pager_start(NULL, fault_wait)) {
        atomic_store(&any, true);
        e->next = exchanges;
        if (pages_exchange(start, e->size, e->block, true)) {
            exchanges = e;
            return e;
        }
    }
    gs_host_free(device_session(), e->block);
    free(e);
    return NULL;
}

/* The address at which the call's device reaches the block, which it joins if the block is another
 * device's. *why: the reason if it cannot. */
static bool block_reach(struct exchange *e, gs_devptr *there, const char **why)
{
    const unsigned number = device_number();

    if (number != e->device && !(e->joined >> number & 1) &&
        gs_host_join(device_session(), devices[e->device].session, e->block) == GS_OK)
        e->joined |= 1u << number;
    if (gs_host_device_ptr(device_session(), e->block, there) == GS_OK)
        return true;
    *why =
        "cudaHostGetDevicePointer of registered memory that another device reaches, and for which "
        "this one has no room";
    return false;
}

/* Waits for the work of all devices that have joined the block. */
static void joined_sync(unsigned joined)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (joined >> i & 1 && devices[i].session != NULL)
            gs_sync(devices[i].session);
    }
}

static void exchange_free(struct exchange *e)
{
    for (unsigned i = 0; e != NULL && i < DEVICES_MAX; i++) {
        if (e->joined >> i & 1 && devices[i].session != NULL)
            gs_host_free(devices[i].session, e->block);
    }
    if (e != NULL)
        gs_host_free(device_session(), e->block);
    free(e);
}

cudaError_t registered_reach(uintptr_t base, size_t size, const void *ptr, void **there)
{
    void *registered = (void *)base; // NOLINT: as it was registered
    const char *why = NULL;
    gs_devptr block;
    struct exchange *e;
    bool reached;

    pthread_mutex_lock(&lock);
    e = exchange_of(registered);
    if (e == NULL)
        e = exchange_make(registered, size, &why);
    reached = e != NULL && block_reach(e, &block, &why);
    if (reached) // NOLINTNEXTLINE: an address for kernels
        *there = (void *)(uintptr_t)(block + ((uintptr_t)ptr - e->start));
    pthread_mutex_unlock(&lock);
    if (reached)
        return cudaSuccess;
    return why != NULL ? error_unsupported(why) : cudaErrorMemoryAllocation;
}

bool registered_find(const void *ptr, void **host, void **there)
{
    const uintptr_t at = (uintptr_t)ptr;
    const char *why = NULL;
    struct exchange *e = NULL;
    size_t offset = 0;
    gs_devptr block;

    if (!atomic_load(&any))
        return false;
    pthread_mutex_lock(&lock);
    for (e = exchanges; e != NULL; e = e->next) {
        offset = at - e->start < e->size ? at - e->start : at - (uintptr_t)e->there;
        if (offset < e->size)
            break;
    }
    if (e != NULL) {
        *host = (void *)(e->start + offset); // NOLINT: an address
        *there = NULL;
        if (block_reach(e, &block, &why))
            *there = (void *)(uintptr_t)(block + offset); // NOLINT: likewise
    }
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

/* Removes the exchange of the memory registered at PTR; NULL: any exchange of the call's device.
 * The program may have unmapped the memory, as free() does. *KEPT: there is no memory for pages,
 * and the block keeps the contents. */
static struct exchange *exchange_undo(const void *ptr, bool *kept)
{
    struct exchange **link = &exchanges, *e;

    pthread_mutex_lock(&lock);
    while (*link != NULL &&
           (ptr != NULL ? (*link)->registered != ptr : (*link)->device != device_number()))
        link = &(*link)->next;
    e = *link;
    *kept = e != NULL && pages_are(e->start, e->size, 's') && !pages_give_back(e);
    if (*kept)
        e = NULL;
    if (e != NULL)
        *link = e->next;
    pthread_mutex_unlock(&lock);
    return e;
}

/* Waits for the device without the lock, which registered_find takes. */
bool registered_end(void *ptr)
{
    unsigned joined = 0;
    struct exchange *e;
    bool kept;

    if (!atomic_load(&any))
        return true;
    pthread_mutex_lock(&lock);
    e = exchange_of(ptr);
    if (e != NULL) {
        device_enter(e->device);
        joined = e->joined;
    }
    pthread_mutex_unlock(&lock);
    gs_sync(device_session());
    joined_sync(joined);
    exchange_free(exchange_undo(ptr, &kept));
    return !kept;
}

void registered_forget(void)
{
    unsigned joined = 0;
    struct exchange *e;
    bool kept;

    if (!atomic_load(&any) || device_session() == NULL)
        return;
    gs_sync(device_session());
    pthread_mutex_lock(&lock);
    for (e = exchanges; e != NULL; e = e->next) {
        joined |= e->device == device_number() ? e->joined : 0;
        e->joined &= ~(1u << device_number());
    }
    pthread_mutex_unlock(&lock);
    joined_sync(joined);
    while ((e = exchange_undo(NULL, &kept)) != NULL)
        exchange_free(e);
}
