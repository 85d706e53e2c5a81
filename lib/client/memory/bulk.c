/* bulk.c - see bulk.h. */
#include "client/memory/bulk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "client/base/thread.h"
#include "common/util.h"

#if defined(__SSE2__)
#include <emmintrin.h>

static void stream_copy(unsigned char *dst, const unsigned char *src, size_t size)
{
    size_t head = (16 - (uintptr_t)dst % 16) % 16;

    if (head > size) /* the last slice of a copy may have a single byte */
        head = size;
    memcpy(dst, src, head);
    for (dst += head, src += head, size -= head; size >= 64; dst += 64, src += 64, size -= 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)src);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(src + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(src + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(src + 48));
        _mm_stream_si128((__m128i *)(void *)dst, a);
        _mm_stream_si128((__m128i *)(void *)(dst + 16), b);
        _mm_stream_si128((__m128i *)(void *)(dst + 32), c);
        _mm_stream_si128((__m128i *)(void *)(dst + 48), d);
    }
    memcpy(dst, src, size);
    /* Streaming stores are weakly ordered, so this fence makes them visible before the record that
     * names the bytes. */
    _mm_sfence();
}
#else
static void stream_copy(unsigned char *dst, const unsigned char *src, size_t size)
{
    memcpy(dst, src, size);
}
#endif

#define AWAKE_NS 50000u /* the helper polls for the next slice this long before it sleeps */

enum { HELPER_NONE, HELPER_RUNS, HELPER_REFUSED };
enum work { WORK_NONE, WORK_OFFERED /* dst, src and size are for the helper */, WORK_TAKEN };

struct slice {
    void (*copy)(unsigned char *dst, const unsigned char *src, size_t size);
    unsigned char *dst;
    const unsigned char *src;
    size_t size;
};

static struct {
    pthread_mutex_t owner; /* held by the copy that uses the helper; also guards state */
    int state;
    _Atomic uint32_t work; /* enum work; a futex */
    _Atomic bool asleep;
    struct slice slice;
} helper = {.owner = PTHREAD_MUTEX_INITIALIZER};

/* Waits for a slice. The next slice of a copy follows within some 20 us, which is less than a
 * sleeping thread needs to wake up. */
static void helper_wait(void)
{
    uint64_t until = clock_ns() + AWAKE_NS;
    uint32_t offered = WORK_OFFERED;

    /* acquire: pairs with helper_give, which stores the slice before */
    while (!atomic_compare_exchange_weak_explicit(&helper.work, &offered, WORK_TAKEN,
                                                  memory_order_acquire, memory_order_relaxed)) {
        offered = WORK_OFFERED;
        if (clock_ns() < until) {
            cpu_relax();
        } else {
            /* seq_cst: before the kernel reads `work`; pairs with helper_give */
            atomic_store(&helper.asleep, true);
            futex_wait(&helper.work, WORK_NONE, UINT64_C(1000000000));
            atomic_store_explicit(&helper.asleep, false, memory_order_relaxed);
            until = clock_ns() + AWAKE_NS;
        }
    }
}

static void *helper_main(void *unused)
{
    (void)unused;
    for (;;) {
        helper_wait();
        helper.slice.copy(helper.slice.dst, helper.slice.src, helper.slice.size);
        /* release: pairs with helper_await; the bytes are copied before */
        atomic_store_explicit(&helper.work, WORK_NONE, memory_order_release);
    }
    return NULL;
}

static void helper_give(const struct slice *slice)
{
    helper.slice = *slice;
    /* seq_cst: after the slice, for helper_wait; and before `asleep` is read */
    atomic_store(&helper.work, WORK_OFFERED);
    if (atomic_load(&helper.asleep))
        futex_wake(&helper.work);
}

/* Returns true if the helper is awake. Wakes a sleeping helper for the next copy, because this one
 * takes less time than the wake-up. */
static bool helper_awake(void)
{
    /* relaxed: a stale value costs only time */
    if (!atomic_load_explicit(&helper.asleep, memory_order_relaxed))
        return true;
    futex_wake(&helper.work);
    return false;
}

/* Waits until the helper has copied its slice. Returns false if the helper is not awake yet, since
 * waking may take longer than the slice; the caller then copies the slice itself. */
static bool helper_await(void)
{
    uint32_t offered = WORK_OFFERED;

    if (atomic_compare_exchange_strong_explicit(&helper.work, &offered, WORK_NONE,
                                                memory_order_relaxed, memory_order_relaxed))
        return false;
    while (atomic_load_explicit(&helper.work, memory_order_acquire) != WORK_NONE)
        cpu_relax();
    return true;
}

/* In a child of fork neither the helper nor a thread that used it exists. */
static void helper_forget(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    memcpy(&helper.owner, &fresh, sizeof(fresh));
    atomic_store_explicit(&helper.work, WORK_NONE, memory_order_relaxed);
    atomic_store_explicit(&helper.asleep, false, memory_order_relaxed);
    helper.state = helper.state == HELPER_RUNS ? HELPER_NONE : helper.state;
}

/* Starts the helper if the machine has CPUs for it, and returns the new state. The caller holds
 * `owner`. */
static int helper_start(void)
{
    static int registered;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 4) /* the worker and the caller need a CPU each */
        return HELPER_REFUSED;
    if (!registered && pthread_atfork(NULL, NULL, helper_forget))
        return HELPER_REFUSED;
    registered = 1;
    return thread_start(helper_main, NULL) ? HELPER_REFUSED : HELPER_RUNS;
}

static bool helper_take(size_t total)
{
    if (total < BULK_HELP_AWAKE || pthread_mutex_trylock(&helper.owner))
        return false;
    if (helper.state == HELPER_NONE)
        helper.state = helper_start();
    if (helper.state == HELPER_RUNS && (total >= BULK_HELP || helper_awake()))
        return true;
    pthread_mutex_unlock(&helper.owner);
    return false;
}

static void plain_copy(unsigned char *dst, const unsigned char *src, size_t size)
{
    memcpy(dst, src, size);
}

void bulk_copy(enum bulk_way way, void *dst, const void *src, size_t size, size_t total)
{
    const bool streams = total >= (way == BULK_IN ? BULK_STREAM_IN : BULK_STREAM_OUT);
    struct slice slice = {streams ? stream_copy : plain_copy, dst, src, size};

    if (!helper_take(total)) {
        slice.copy(slice.dst, slice.src, slice.size);
        return;
    }
    const size_t half = size / 2 / 64 * 64;
    slice.dst += half;
    slice.src += half;
    slice.size -= half;
    helper_give(&slice);
    slice.copy(dst, src, half);
    if (!helper_await())
        slice.copy(slice.dst, slice.src, slice.size);
    pthread_mutex_unlock(&helper.owner);
}
