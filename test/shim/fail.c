/*
 * fail.c - see fail.h. Stands before the C library, passes calls on, and fails one. Any thread.
 * Calls that only give something back are left alone: they do not fail in practice, and whoever
 * makes them could do nothing about it.
 */
#include "shim/fail.h"
#include "common/sanitizers.h"
#include "shim/countdown.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEAP_IS_TAKEN (ADDRESS_SANITIZER || THREAD_SANITIZER)

#define EXPORT __attribute__((visibility("default")))

static struct fail_plan *plan;
static enum fail_role own_role;

/* Where the program itself lies: the server and the worker answer for their own calls, not for
 * those of the driver's library. */
static uintptr_t program_begin, program_end;

static int program_find(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    program_begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        if (begin < program_begin)
            program_begin = begin;
        if (begin + info->dlpi_phdr[i].p_memsz > program_end)
            program_end = begin + info->dlpi_phdr[i].p_memsz;
    }
    return 1; /* the first object is the program */
}

/* Whether this is the call that fails. Inlined, so that the return address is the intercepted
 * call's. */
static inline __attribute__((always_inline)) int fail_now(const char *name)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);

#if HEAP_IS_TAKEN
    caller = program_begin; /* a sanitizer's own functions stand between */
#endif
    if (own_role != FAIL_CLIENT && (caller < program_begin || caller >= program_end))
        return 0;

    if (plan == NULL || atomic_load_explicit(&plan->role, memory_order_acquire) != own_role)
        return 0;
    if (!countdown_over(&plan->calls))
        return 0;
    strncpy(plan->name, name, sizeof(plan->name) - 1);
    atomic_store_explicit(&plan->failures, 1, memory_order_release);
    return 1;
}

EXPORT struct fail_plan *fail_plan_use(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *map;

    if (fd < 0)
        return NULL;
    map = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return NULL;
    own_role = FAIL_CLIENT;
    plan = map;
    return plan;
}

/* In a preloaded library: the worker is the server's program with another command line. */
__attribute__((constructor)) static void role_find(void)
{
    const char *path = getenv("GSHARE_FAIL_PLAN");
    char line[256] = "";
    size_t arguments;
    int fd;

    if (path == NULL || fail_plan_use(path) == NULL)
        return;
    fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
        abort();
    close(fd);
    arguments = strlen(line) + 1;
    dl_iterate_phdr(program_find, NULL);
    own_role = strcmp(line + arguments, "--worker") == 0 ? FAIL_WORKER : FAIL_SERVER;
}

/* ---- The heap -------------------------------------------------------------------------------- */

#if !HEAP_IS_TAKEN
static _Atomic long heap_blocks;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *counted(void *block)
{
    if (block != NULL)
        atomic_fetch_add_explicit(&heap_blocks, 1, memory_order_relaxed);
    return block;
}

static inline __attribute__((always_inline)) int heap_fails(const char *name)
{
    if (!fail_now(name))
        return 0;
    errno = ENOMEM;
    return 1;
}

EXPORT void *malloc(size_t size)
{
    return heap_fails("malloc") ? NULL : counted(__libc_malloc(size));
}

EXPORT void *calloc(size_t count, size_t size)
{
    return heap_fails("calloc") ? NULL : counted(__libc_calloc(count, size));
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_fails("aligned_alloc") ? NULL : counted(__libc_memalign(alignment, size));
}

EXPORT void *realloc(void *block, size_t size)
{
    void *moved;

    if (heap_fails("realloc"))
        return NULL;
    moved = __libc_realloc(block, size);
    return block == NULL ? counted(moved) : moved;
}

EXPORT void free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub_explicit(&heap_blocks, 1, memory_order_relaxed);
    __libc_free(block);
}

EXPORT long fail_heap_blocks(void)
{
    return atomic_load_explicit(&heap_blocks, memory_order_relaxed);
}
#else
EXPORT long fail_heap_blocks(void)
{
    return -1;
}
#endif

/* ---- System calls ---------------------------------------------------------------------------- */

/* type name(parameters): fails with `error` by returning -1 as its type; where it counts. */
#define WRAP_WHERE(counts, type, name, error, parameters, arguments)                               \
    EXPORT type name parameters                                                                    \
    {                                                                                              \
        static type(*_Atomic next) parameters;                                                     \
                                                                                                   \
        if (next == NULL)                                                                          \
            next = (type(*) parameters)(uintptr_t)dlsym(RTLD_NEXT, #name);                         \
        if ((counts) && fail_now(#name)) {                                                         \
            errno = error;                                                                         \
            return (type)-1;                                                                       \
        }                                                                                          \
        return next arguments;                                                                     \
    }
#define WRAP(...) WRAP_WHERE(true, __VA_ARGS__)

WRAP(int, shmget, ENOSPC, (key_t key, size_t size, int flags), (key, size, flags))
WRAP(void *, shmat, ENOMEM, (int id, const void *at, int flags), (id, at, flags))
WRAP(void *, mmap, ENOMEM, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset))
WRAP(int, flock, ENOLCK, (int fd, int operation), (fd, operation))
WRAP(int, fstat, ENOMEM, (int fd, struct stat *about), (fd, about))
WRAP(int, eventfd, EMFILE, (unsigned count, int flags), (count, flags))
WRAP(ssize_t, getrandom, EAGAIN, (void *to, size_t size, unsigned flags), (to, size, flags))
WRAP(int, mq_getattr, EBADF, (mqd_t queue, struct mq_attr *attr), (queue, attr))
WRAP(int, mq_send, ENOMEM, (mqd_t queue, const char *message, size_t size, unsigned priority),
     (queue, message, size, priority))
WRAP(int, mq_timedsend, ENOMEM,
     (mqd_t queue, const char *message, size_t size, unsigned priority,
      const struct timespec *until),
     (queue, message, size, priority, until))
WRAP(ssize_t, mq_receive, EINTR, (mqd_t queue, char *message, size_t size, unsigned *priority),
     (queue, message, size, priority))
/* A look that does not wait is repeated any number of times. */
WRAP_WHERE(until->tv_sec > 0, ssize_t, mq_timedreceive, EINTR,
           (mqd_t queue, char *message, size_t size, unsigned *priority,
            const struct timespec *until),
           (queue, message, size, priority, until))

/* Giving a segment back or handing it to its user is not refused by the kernel; looking may be. */
EXPORT int shmctl(int id, int command, struct shmid_ds *about)
{
    static int (*_Atomic next)(int, int, struct shmid_ds *);

    if (next == NULL)
        next = (int (*)(int, int, struct shmid_ds *))(uintptr_t)dlsym(RTLD_NEXT, "shmctl");
    if (command != IPC_RMID && fail_now("shmctl")) {
        errno = EPERM;
        return -1;
    }
    return next(id, command, about);
}

EXPORT int epoll_ctl(int poll, int operation, int fd, struct epoll_event *event)
{
    static int (*_Atomic next)(int, int, int, struct epoll_event *);

    if (next == NULL)
        next =
            (int (*)(int, int, int, struct epoll_event *))(uintptr_t)dlsym(RTLD_NEXT, "epoll_ctl");
    if (operation == EPOLL_CTL_ADD && fail_now("epoll_ctl")) {
        errno = ENOSPC;
        return -1;
    }
    return next(poll, operation, fd, event);
}

EXPORT mqd_t mq_open(const char *name, int flags, ...)
{
    static mqd_t (*_Atomic next)(const char *, int, ...);
    struct mq_attr *attr = NULL;
    unsigned mode = 0;
    va_list ap;

    if (flags & O_CREAT) {
        va_start(ap, flags);
        mode = va_arg(ap, unsigned);
        attr = va_arg(ap, struct mq_attr *);
        va_end(ap);
    }
    if (next == NULL)
        next = (mqd_t(*)(const char *, int, ...))(uintptr_t)dlsym(RTLD_NEXT, "mq_open");
    if (fail_now("mq_open")) {
        errno = ENFILE;
        return -1;
    }
    return next(name, flags, mode, attr);
}

EXPORT int open(const char *path, int flags, ...)
{
    static int (*_Atomic next)(const char *, int, ...);
    unsigned mode = 0;
    va_list ap;

    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_start(ap, flags);
        mode = va_arg(ap, unsigned);
        va_end(ap);
    }
    if (next == NULL)
        next = (int (*)(const char *, int, ...))(uintptr_t)dlsym(RTLD_NEXT, "open");
    if (fail_now("open")) {
        errno = EMFILE;
        return -1;
    }
    return next(path, flags, mode);
}

EXPORT int fcntl(int fd, int command, ...)
{
    static int (*_Atomic next)(int, int, ...);
    void *argument;
    va_list ap;

    va_start(ap, command);
    argument = va_arg(ap, void *);
    va_end(ap);
    if (next == NULL)
        next = (int (*)(int, int, ...))(uintptr_t)dlsym(RTLD_NEXT, "fcntl");
    if (fail_now("fcntl")) {
        errno = EMFILE;
        return -1;
    }
    return next(fd, command, argument);
}

/* pidfd_open and memfd_create; not futexes, which fail as nothing else does. */
EXPORT long syscall(long number, ...)
{
    static long (*_Atomic next)(long, ...);
    long a[6];
    va_list ap;

    va_start(ap, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (next == NULL)
        next = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
    if (number != SYS_futex && number != SYS_gettid && fail_now("syscall")) {
        errno = EMFILE;
        return -1;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
