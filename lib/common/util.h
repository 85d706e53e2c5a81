/* util.h - small helpers that every folder of lib/ needs: time, futex, cleanup attributes. */
#ifndef GS_COMMON_UTIL_H
#define GS_COMMON_UTIL_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the smallest multiple of `to` that is not less than the value. */
static inline uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

static inline uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A hint to the processor that this is a spin loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Sleeps while *word == expected, at most timeout_ns. May return early, so the caller reads the
 * word again. The word may be shared between processes. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};

    syscall(SYS_futex, word, FUTEX_WAIT, expected, &t, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#define CLEANUP_FREE __attribute__((cleanup(cleanup_free)))
#define CLEANUP_FD   __attribute__((cleanup(cleanup_fd)))

#endif
