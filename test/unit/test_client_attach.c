/*
 * test_client_attach.c - every allocation and every system call on gs_attach's path fails once in
 * turn: a documented status with a message, nothing left behind, and the next attach succeeds.
 *
 * The calls are this program's own definitions, which count down in the thread that asked for it
 * (the fake server's threads are left alone) and otherwise call the C library's.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "common/sanitizers.h"
#include "common/util.h"
#include "fake_server.h"
#include "gshare.h"

/* ---- Calls that fail when told to ---- */

static _Thread_local struct {
    unsigned left; /* calls until the failure; 0: none is due */
    int error;
    const char *failed; /* the call that failed; NULL: none yet */
} injection;

static bool fails(const char *name)
{
    if (!injection.left || --injection.left)
        return false;
    injection.failed = name;
    errno = injection.error;
    return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("aligned_alloc") ? NULL : REAL(aligned_alloc)(alignment, size);
}

void *shmat(int id, const void *address, int flags)
{
    return fails("shmat") ? (void *)-1 : REAL(shmat)(id, address, flags);
}

int shmctl(int id, int op, struct shmid_ds *about)
{
    return fails("shmctl") ? -1 : REAL(shmctl)(id, op, about);
}

mqd_t mq_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    struct mq_attr *attr = NULL;
    va_list ap;

    if (fails("mq_open"))
        return -1;
    if (flags & O_CREAT) {
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        attr = va_arg(ap, struct mq_attr *);
        va_end(ap);
    }
    return REAL(mq_open)(name, flags, mode, attr);
}

int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority,
                 const struct timespec *until)
{
    return fails("mq_timedsend") ? -1 : REAL(mq_timedsend)(queue, message, size, priority, until);
}

ssize_t mq_timedreceive(mqd_t queue, char *message, size_t size, unsigned *priority,
                        const struct timespec *until)
{
    return fails("mq_timedreceive") ? -1
                                    : REAL(mq_timedreceive)(queue, message, size, priority, until);
}

int fstat(int fd, struct stat *about)
{
    return fails("fstat") ? -1 : REAL(fstat)(fd, about);
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    return fails("getrandom") ? -1 : REAL(getrandom)(buffer, size, flags);
}

/* Where a client looks for its answer without sleeping, it looks any number of times. */
static bool spare;

bool cpus_to_spare(void)
{
    return spare;
}

/* ---- What must not grow ---- */

static unsigned descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static unsigned shared_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned n = 0;

    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        n += strstr(line, "SYSV") != NULL;
    fclose(maps);
    return n;
}

/* gs_attach does not wait for the server to have taken its confirmation, nor its giving back. */
static void await_sessions(struct fake *fake, unsigned wanted)
{
    uint64_t deadline = clock_ns() + 10000000000u;

    while (fake_sessions_open(fake) != wanted) {
        assert_true(clock_ns() < deadline);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

static bool documented(gs_status status)
{
    return status == GS_ERR_NO_SERVER || status == GS_ERR_REFUSED || status == GS_ERR_NO_MEMORY ||
           status == GS_ERR_SYSTEM || status == GS_ERR_TIMEOUT;
}

static gs_status attach(const char *instance, gs_session *s)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.instance = instance;
    return gs_attach(&params, s);
}

/* Fails the n-th call; false when there are fewer. */
static bool fail_once(struct fake *fake, const char *instance, unsigned n, int error)
{
    unsigned fds = descriptors(), maps = shared_mappings();
    gs_session s = (gs_session)3;
    const char *failed;
    gs_status status;

    injection.failed = NULL;
    injection.error = error;
    injection.left = n;
    status = attach(instance, &s);
    injection.left = 0;
    failed = injection.failed;
    if (status == GS_OK) { /* such as an interrupted send, sent again */
        assert_int_equal(gs_detach(s), GS_OK);
    } else {
        if (!failed || !documented(status) || !*gs_last_error_message())
            fail_msg("call %u (%s) failed with %s: %s: \"%s\"", n, failed ? failed : "none",
                     strerror(error), gs_status_name(status), gs_last_error_message());
        assert_ptr_equal(s, (gs_session)3);
    }
    /* The server lives, and by its answer has dealt with all that was sent before. */
    assert_int_equal(attach(instance, &s), GS_OK);
    assert_int_equal(gs_detach(s), GS_OK);
    if (failed && !strcmp(failed, "mq_timedreceive"))
        /* The answer was not read: the server alone knows of the session. */
        fake_end_unconfirmed(fake);
    await_sessions(fake, 0);
    assert_int_equal(descriptors(), fds);
    assert_int_equal(shared_mappings(), maps);
    return failed != NULL;
}

static const int errors[] = {ENOMEM, EACCES, EINTR};

static struct fake *start(char instance[32])
{
    struct fake *fake;
    gs_session s;

#if THREAD_SANITIZER
    /* It lies in the program itself, so that dlsym finds the C library's functions behind its back.
     */
    skip();
#endif
    snprintf(instance, 32, "test-cf-%d", (int)getpid());
    fake = fake_start(instance);
    /* What happens once per process is not a leak. */
    assert_int_equal(attach(instance, &s), GS_OK);
    assert_int_equal(gs_detach(s), GS_OK);
    await_sessions(fake, 0);
    return fake;
}

static void every_call_of_attach_can_fail(void **state)
{
    char instance[32];
    struct fake *fake;

    (void)state;
    spare = false;
    fake = start(instance);
    for (size_t e = 0; e < ARRAY_SIZE(errors); e++) {
        unsigned n = 1;
        while (fail_once(fake, instance, n, errors[e]))
            n++;
        /* A session, a control queue, a reply queue, an answer, two segments, a doorbell. */
        assert_true(n > 12);
    }
    fake_stop(fake);
}

static void so_it_can_where_it_waits_awake(void **state)
{
    char instance[32];
    struct fake *fake;

    (void)state;
    spare = true;
    fake = start(instance);
    for (size_t e = 0; e < ARRAY_SIZE(errors); e++) {
        for (unsigned n = 1; n < 24; n++)
            fail_once(fake, instance, n, errors[e]);
    }
    fake_stop(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_attach_can_fail),
        cmocka_unit_test(so_it_can_where_it_waits_awake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
