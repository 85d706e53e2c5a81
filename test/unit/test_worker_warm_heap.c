/*
 * test_worker_warm_heap.c - memory that a thread allocates after its heap was filled is there: the
 * kernel is asked for hardly a page of it. Filling ends when the thread is wanted, and takes no
 * time when all pages are there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/sanitizers.h"
#include "common/util.h"
#include "worker/driver/warm_heap.h"

#if ADDRESS_SANITIZER || THREAD_SANITIZER || !defined(__GLIBC__)
#define OWN_MALLOC 1
#else
#define OWN_MALLOC 0
#endif

#define PIECE      200u   /* bytes */
#define PIECES     10000u /* 2 MB */
#define WANTED_AT  3      /* how often the fill asks until the thread is wanted */
#define WHOLE_FILL 16u    /* how often it asks at least, when the thread is not wanted */

static unsigned asked;

static bool wanted_never(void)
{
    asked++;
    return false;
}

static bool wanted_soon(void)
{
    return ++asked >= WANTED_AT;
}

static long faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

/* Counts the page faults of an allocation of so many pieces, each written to. */
static long allocate(char *piece[], unsigned pieces)
{
    memset(piece, 1, pieces * sizeof(*piece)); /* faults in the array's own pages */
    long before = faults();
    for (unsigned i = 0; i < pieces; i++) {
        piece[i] = malloc(PIECE);
        memset(piece[i], 1, PIECE);
    }
    return faults() - before;
}

static void release(char *piece[], unsigned pieces)
{
    for (unsigned i = 0; i < pieces; i++)
        free(piece[i]);
}

static void *plain_main(void *argument)
{
    static char *piece[PIECES];

    *(long *)argument = allocate(piece, PIECES);
    release(piece, PIECES);
    return NULL;
}

/* The thread may get the heap of one that has gone, so it allocates three times as much as that. */
static void *filled_main(void *argument)
{
    static char *piece[3 * PIECES];

    warm_heap_fill(wanted_never);
    *(long *)argument = allocate(piece, ARRAY_SIZE(piece));
    release(piece, ARRAY_SIZE(piece));
    return NULL;
}

static long in_a_thread(void *(*run)(void *))
{
    pthread_t thread;
    long taken = -1;

    assert_int_equal(pthread_create(&thread, NULL, run, &taken), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return taken;
}

static long plain; /* page faults of the first thread, whose heap was not filled */

static int plain_setup(void **state)
{
    (void)state;
    plain = in_a_thread(plain_main);
    return 0;
}

/* The number of page faults that counts as few. */
static long few(void)
{
    const long pages = (long)PIECES * PIECE / sysconf(_SC_PAGESIZE);

    if (OWN_MALLOC || plain < pages / 2) {
        print_message("malloc or the kernel is of another kind: %ld faults for %ld pages\n", plain,
                      pages);
        skip();
    }
    return pages / 10;
}

static void what_is_allocated_next_is_there(void **state)
{
    const long most = few();

    (void)state;
    assert_in_range(in_a_thread(filled_main), 0, most);
}

static void *asked_main(void *argument)
{
    asked = 0;
    warm_heap_fill(wanted_never);
    *(long *)argument = asked;
    asked = 0;
    warm_heap_fill(wanted_never); /* all pages are there */
    *(long *)argument -= asked;
    return NULL;
}

static void *wanted_main(void *argument)
{
    asked = 0;
    warm_heap_fill(wanted_soon);
    *(long *)argument = asked;
    return NULL;
}

static void filling_ends_when_the_thread_is_wanted(void **state)
{
    (void)state;
    few(); /* all pages are there, or there is nothing to fill */
    assert_true(in_a_thread(asked_main) >= WHOLE_FILL);
    assert_int_equal(in_a_thread(wanted_main), WANTED_AT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allocated_next_is_there),
        cmocka_unit_test(filling_ends_when_the_thread_is_wanted),
    };

    warm_heap_init();
    return cmocka_run_group_tests_name("worker_warm_heap", tests, plain_setup, NULL);
}
