/*
 * test_worker_session_fault.c - the log has the faults of each user's sessions, as many as a user
 * may have in a while, however many another user has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "worker/submit/session_fault.h"

#define MANY 1000u

static struct session session;
static _Alignas(4096) unsigned char segment[SEG_SIZE];
static int logged; /* a file that takes what is logged */

static int set(void **state)
{
    (void)state;
    log_init("test", "warning");
    logged = memfd_create("log", MFD_CLOEXEC);
    return logged < 0 ? -1 : 0;
}

/* Another session of that user has a fault. */
static void fault(uint32_t uid)
{
    static uint64_t id;

    struct seg_server *server = (void *)(segment + SEG_OFF_SERVER);

    session = (struct session){.id = ++id, .uid = uid, .segment = segment, .server_page = server};
    memset(server, 0, sizeof(*server));
    session_fault(&session, &(struct fault){.kind = GS_FAULT_KERNEL,
                                            .status = GS_ERR_FAULT,
                                            .launch = 7,
                                            .kernel = "kernel",
                                            .message = "a trap"});
    assert_int_equal(atomic_load(&server->state), SEG_FAULTED);
    assert_int_equal(server->fault.launch, 7);
}

static void faults(uint32_t uid, uint32_t count)
{
    const int errors = dup(STDERR_FILENO);

    dup2(logged, STDERR_FILENO);
    for (uint32_t i = 0; i < count; i++)
        fault(uid);
    dup2(errors, STDERR_FILENO);
    close(errors);
}

/* Lines of the log about that user. */
static uint32_t lines(uint32_t uid)
{
    char text[1024], wanted[32];
    uint32_t count = 0;
    FILE *file = fdopen(dup(logged), "r");

    assert_non_null(file);
    rewind(file);
    snprintf(wanted, sizeof(wanted), " uid=%u ", uid);
    while (fgets(text, sizeof(text), file))
        count += strstr(text, wanted) != NULL;
    fclose(file);
    return count;
}

static void a_user_with_many_faults_does_not_fill_the_log(void **state)
{
    (void)state;
    faults(1001, MANY);
    assert_in_range(lines(1001), 1, MANY / 10);
}

static void nor_hides_what_others_have(void **state)
{
    (void)state;
    faults(1001, MANY);
    for (uint32_t uid = 1002; uid < 1012; uid++) {
        faults(uid, 3);
        assert_int_equal(lines(uid), 3);
        faults(1001, MANY);
    }
    assert_in_range(lines(1001), 1, MANY / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_with_many_faults_does_not_fill_the_log),
        cmocka_unit_test(nor_hides_what_others_have),
    };

    return cmocka_run_group_tests(tests, set, NULL);
}
