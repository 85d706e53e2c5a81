// What comes from the control queue: no bytes get past the checks that are not a request, and who
// is admitted to what.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/control/control.h"
#include "server/state/session.h"

/* ---- Headers --------------------------------------------------------------------------------- */

static union control_request request_of(uint16_t op, uint32_t size)
{
    union control_request request;

    memset(&request, 0, sizeof(request));
    request.h = (struct ctl_header){
        .magic = WIRE_MAGIC, .version = WIRE_VERSION, .op = op, .size = size, .token = 42};
    return request;
}

static void each_operation_has_one_size(void **state)
{
    (void)state;
    for (uint16_t op = CTL_ANNOUNCE; op < CONTROL_OPS; op++) {
        if (op == CTL_AGAIN) { /* an answer */
            union control_request answer = request_of(op, sizeof(struct ctl_header));
            assert_int_equal(control_check(&answer, sizeof(struct ctl_header)), CONTROL_OP);
            continue;
        }
        assert_in_range(control_size(op), sizeof(struct ctl_header), CTL_MESSAGE_MAX);
        for (uint32_t n = sizeof(struct ctl_header); n <= CTL_MESSAGE_MAX; n++) {
            union control_request request = request_of(op, n);
            assert_int_equal(control_check(&request, n),
                             n == control_size(op) ? CONTROL_GOOD : CONTROL_SIZE);
        }
        union control_request lying = request_of(op, control_size(op) + 1);
        assert_int_equal(control_check(&lying, control_size(op)), CONTROL_SIZE);
    }
}

static void what_is_no_request_is_junk(void **state)
{
    union control_request request = request_of(CTL_QUIT, sizeof(struct ctl_admin));

    (void)state;
    for (size_t n = 0; n < sizeof(struct ctl_header); n++)
        assert_int_equal(control_check(&request, n), CONTROL_JUNK);
    request.h.magic++;
    assert_int_equal(control_check(&request, sizeof(struct ctl_admin)), CONTROL_JUNK);
}

static void another_version_is_told_before_anything_else(void **state)
{
    union control_request request = request_of(999, 12345);

    (void)state;
    request.h.version = WIRE_VERSION + 1;
    assert_int_equal(control_check(&request, CTL_MESSAGE_MAX), CONTROL_VERSION);
}

static void operations_that_there_are_not_are_refused(void **state)
{
    static const uint16_t ops[] = {0, CONTROL_OPS, 255, UINT16_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        union control_request request = request_of(ops[i], sizeof(struct ctl_admin));
        assert_int_equal(control_check(&request, sizeof(struct ctl_admin)), CONTROL_OP);
    }
}

// Whatever passes has all that its handler relies on.
static void random_bytes_pass_only_as_requests(void **state)
{
    union control_request request;
    unsigned good = 0;

    (void)state;
    srand(3);
    for (int round = 0; round < 300000; round++) {
        size_t size = (size_t)rand() % (CTL_MESSAGE_MAX + 1);

        for (size_t i = 0; i < sizeof(request.bytes); i++)
            request.bytes[i] = (unsigned char)rand();
        // Mostly nearly right, else nothing would ever pass.
        if (rand() % 8)
            request.h.magic = WIRE_MAGIC;
        if (rand() % 8)
            request.h.version = WIRE_VERSION;
        if (rand() % 8)
            request.h.op = (uint16_t)(rand() % (CONTROL_OPS + 2));
        if (rand() % 2)
            size = rand() % 2 ? sizeof(struct ctl_admin) : sizeof(struct ctl_attach);
        if (rand() % 8)
            request.h.size = (uint32_t)size;
        if (control_check(&request, size) != CONTROL_GOOD)
            continue;
        good++;
        assert_int_equal(request.h.magic, WIRE_MAGIC);
        assert_int_equal(request.h.version, WIRE_VERSION);
        assert_true(request.h.op >= CTL_ANNOUNCE && request.h.op < CONTROL_OPS);
        assert_int_equal(request.h.size, size);
    }
    assert_true(good > 1000);
}

/* ---- Admission ------------------------------------------------------------------------------- */

#define STRANGER 54321

static struct server server;

static int admission_setup(void **state)
{
    (void)state;
    memset(&server, 0, sizeof(server));
    server.options.instance = "unit";
    server.options.served.all = true;
    server.phase = PHASE_SERVING;
    server.device_count = 2;
    for (int i = 0; i < 2; i++) {
        device_init(&server.device[i], &server, i);
        server.device[i].worker.state = WORKER_READY;
        server.device[i].info.priority_highest = -5;
    }
    return registry_init(&server.registry, 2, NULL) ? 0 : -1;
}

static int admission_teardown(void **state)
{
    (void)state;
    registry_deinit(&server.registry);
    return 0;
}

static struct ctl_attach attach_plain(void)
{
    return (struct ctl_attach){.device = GS_DEVICE_AUTO, .name = "a program"};
}

// Expects a refusal with a line of text that has `part` in it.
static void expect_refusal(const struct ctl_attach *request, gs_status status, const char *part)
{
    struct admission admission;
    char text[REFUSAL_TEXT_MAX] = "";

    assert_int_equal(attach_admit(&server, 0, request, &admission, text), status);
    if (!strstr(text, part) || strchr(text, '\n'))
        fail_msg("the text is '%s', without '%s'", text, part);
}

static struct admission expect_admission(const struct ctl_attach *request)
{
    struct admission admission;
    char text[REFUSAL_TEXT_MAX] = "";

    if (attach_admit(&server, 0, request, &admission, text) != GS_OK)
        fail_msg("refused: %s", text);
    return admission;
}

static void only_the_users_of_the_policy_are_admitted(void **state)
{
    (void)state;
    assert_true(user_admitted(&server.options, STRANGER));
    server.options.served.all = false;
    assert_false(user_admitted(&server.options, STRANGER));
    assert_true(user_admitted(&server.options, geteuid()));
    assert_true(user_admitted(&server.options, 0));
    server.options.served.user[0] = STRANGER;
    server.options.served.count = 1;
    assert_true(user_admitted(&server.options, STRANGER));
    assert_false(user_admitted(&server.options, STRANGER + 1));
}

static void an_ending_server_admits_nobody(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    server.phase = PHASE_DRAINING;
    expect_refusal(&request, GS_ERR_REFUSED, "ending");
    server.phase = PHASE_STOPPING;
    expect_refusal(&request, GS_ERR_REFUSED, "ending");
}

static void there_are_no_more_sessions_than_slots(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    assert_non_null(registry_take(&server.registry));
    expect_admission(&request);
    assert_non_null(registry_take(&server.registry));
    expect_refusal(&request, GS_ERR_LIMIT, "maximum of 2");
}

static void devices_are_checked_and_chosen(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    request.device = 2;
    expect_refusal(&request, GS_ERR_NO_DEVICE, "device 2: the server has 2");
    request.device = INT32_MAX;
    expect_refusal(&request, GS_ERR_NO_DEVICE, "2147483647");
    request.device = -2;
    expect_refusal(&request, GS_ERR_INVALID_VALUE, "-2");
    request.device = INT32_MIN;
    expect_refusal(&request, GS_ERR_INVALID_VALUE, "-2147483648");
    request.device = 1;
    assert_ptr_equal(expect_admission(&request).device, &server.device[1]);
    // Any: the one with fewer sessions, of those that work.
    request.device = GS_DEVICE_AUTO;
    server.device[0].sessions = 1;
    assert_ptr_equal(expect_admission(&request).device, &server.device[1]);
    server.device[1].worker.state = WORKER_NONE;
    server.device[1].failures = 1000;
    strcpy(server.device[1].failure, "its fan stands still");
    assert_ptr_equal(expect_admission(&request).device, &server.device[0]);
    request.device = 1;
    expect_refusal(&request, GS_ERR_NO_DEVICE, "its fan stands still");
}

// Ranks are counted from 1 in the request.
static void a_rank_of_a_job_decides_the_device(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    server.device[0].sessions = 5;
    request.device = GS_DEVICE_AUTO;
    for (uint32_t rank = 0; rank < 7; rank++) {
        request.local_rank = rank + 1;
        assert_ptr_equal(expect_admission(&request).device, &server.device[rank % 2]);
    }
    request.local_rank = UINT32_MAX;
    assert_ptr_equal(expect_admission(&request).device, &server.device[0]);
    request.local_rank = 0; /* in no job */
    assert_ptr_equal(expect_admission(&request).device, &server.device[1]);
    /* A device that is named counts more than the rank. */
    request.local_rank = 2;
    request.device = 0;
    assert_ptr_equal(expect_admission(&request).device, &server.device[0]);
    /* One that does not work is nobody's. */
    request.device = GS_DEVICE_AUTO;
    server.device[1].worker.state = WORKER_NONE;
    server.device[1].failures = 1000;
    assert_ptr_equal(expect_admission(&request).device, &server.device[0]);
}

static void what_this_version_cannot_honour_is_refused(void **state)
{
    struct ctl_attach request;

    (void)state;
#define REFUSED(field, value, status, part)                                                        \
    do {                                                                                           \
        request = attach_plain();                                                                  \
        request.field = value;                                                                     \
        expect_refusal(&request, status, part);                                                    \
    } while (0)
    REFUSED(qos.weight, 1001, GS_ERR_INVALID_VALUE, "weight 1001: 1 to 1000");
    REFUSED(qos.priority, -1, GS_ERR_INVALID_VALUE, "priority -1: 0 to 5");
    REFUSED(qos.priority, INT32_MIN, GS_ERR_INVALID_VALUE, "priority -2147483648");
    REFUSED(qos.deadline_ns, UINT64_MAX, GS_ERR_INVALID_VALUE, "at most 3600000000000");
    REFUSED(qos.affinity_type, 4, GS_ERR_INVALID_VALUE, "type 4");
    REFUSED(qos.cls, 3, GS_ERR_INVALID_VALUE, "class 3");
    REFUSED(on_fault, 2, GS_ERR_INVALID_VALUE, "on_fault 2");
#undef REFUSED
    request = attach_plain();
    request.qos.cls = GS_CLASS_BEST_EFFORT;
    request.qos.priority = INT32_MAX;
    request.qos.weight = 1000;
    request.qos.deadline_ns = QOS_DEADLINE_MAX_NS;
    expect_admission(&request);
}

// SM requests against a device of 8 SMs in groups of 2, and one without partitions.
static void sm_requests_name_the_limit_they_break(void **state)
{
    struct link_device info = {.sm_count = 8, .sm_groups = 4};
    struct ctl_attach request;

    (void)state;
    for (uint32_t sm = 0; sm < 8; sm++)
        info.sm_group[sm] = (uint8_t)(sm / 2);
    assert_true(placer_device_init(&server.device[0].sms, &info));
    info.sm_groups = 0;
    assert_true(placer_device_init(&server.device[1].sms, &info));
#define ASKED(kind, field, value, wanted, part)                                                    \
    do {                                                                                           \
        request = attach_plain();                                                                  \
        request.device = 0;                                                                        \
        request.qos.affinity_type = kind;                                                          \
        request.qos.field = value;                                                                 \
        if (wanted == GS_OK)                                                                       \
            expect_admission(&request);                                                            \
        else                                                                                       \
            expect_refusal(&request, wanted, part);                                                \
        request.device = 1;                                                                        \
        expect_refusal(&request, GS_ERR_NOT_SUPPORTED, "no partitions");                           \
    } while (0)
    ASKED(GS_EXEC_AFFINITY_SM_COUNT, sm_count, 0, GS_ERR_INVALID_VALUE, "0 SMs: 1 to 8");
    ASKED(GS_EXEC_AFFINITY_SM_COUNT, sm_count, 9, GS_ERR_INVALID_VALUE, "9 SMs: 1 to 8");
    ASKED(GS_EXEC_AFFINITY_SM_COUNT, sm_count, 1, GS_OK, "");
    ASKED(GS_EXEC_AFFINITY_SM_COUNT, sm_count, 8, GS_OK, "");
    ASKED(GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, percentage, 0, GS_ERR_INVALID_VALUE,
          "percentage of 0: 1 to 100");
    ASKED(GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, percentage, 101, GS_ERR_INVALID_VALUE,
          "percentage of 101: 1 to 100");
    ASKED(GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE, percentage, 100, GS_OK, "");
    ASKED(GS_EXEC_AFFINITY_SM_MASK, sm_mask[0], 0, GS_ERR_INVALID_VALUE, "no SM of 0 to 7");
    ASKED(GS_EXEC_AFFINITY_SM_MASK, sm_mask[0], 0x103, GS_ERR_INVALID_VALUE, "beyond 0 to 7");
    ASKED(GS_EXEC_AFFINITY_SM_MASK, sm_mask[7], 1, GS_ERR_INVALID_VALUE, "beyond 0 to 7");
    ASKED(GS_EXEC_AFFINITY_SM_MASK, sm_mask[0], 0x7, GS_ERR_INVALID_VALUE, "groups of 2");
    ASKED(GS_EXEC_AFFINITY_SM_MASK, sm_mask[0], 0xc3, GS_OK, "");
#undef ASKED
}

static void only_reservations_that_there_are_can_be_attached_to(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    strcpy(server.settings.reservation[3].name, "render");
    server.settings.reservation[3].device = 1;
    strcpy(request.reservation, "render");
    struct admission admission = expect_admission(&request);
    assert_ptr_equal(admission.device, &server.device[1]);
    assert_int_equal(admission.space, 4);
    request.device = 0;
    expect_refusal(&request, GS_ERR_INVALID_VALUE, "on device 1");
    request.device = GS_DEVICE_AUTO;
    strcpy(request.reservation, "rende");
    expect_refusal(&request, GS_ERR_NOT_FOUND, "reserved no SMs as");
    memset(request.reservation, 'r', sizeof(request.reservation)); // not terminated
    expect_refusal(&request, GS_ERR_NOT_FOUND, "reserved no SMs as");
    strcpy(request.reservation, "\033[2J");
    expect_refusal(&request, GS_ERR_NOT_FOUND, "reserved no SMs as");
    // One that found no room when the device came up.
    server.device[1].sms.sm_count = 8;
    strcpy(request.reservation, "render");
    expect_refusal(&request, GS_ERR_NO_DEVICE, "did not fit");
}

static void names_cannot_command_a_terminal(void **state)
{
    struct ctl_attach request = attach_plain();

    (void)state;
    memcpy(request.name, "a\033[2J\tb\x9b\x7f", 10);
    assert_string_equal(expect_admission(&request).name, "a?[2J?b??");
    // Not terminated: cut.
    memset(request.name, 'x', sizeof(request.name));
    assert_int_equal(strlen(expect_admission(&request).name), 31);
}

#define ADMISSION_TEST(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, admission_setup, admission_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_has_one_size),
        cmocka_unit_test(what_is_no_request_is_junk),
        cmocka_unit_test(another_version_is_told_before_anything_else),
        cmocka_unit_test(operations_that_there_are_not_are_refused),
        cmocka_unit_test(random_bytes_pass_only_as_requests),
        ADMISSION_TEST(only_the_users_of_the_policy_are_admitted),
        ADMISSION_TEST(an_ending_server_admits_nobody),
        ADMISSION_TEST(there_are_no_more_sessions_than_slots),
        ADMISSION_TEST(devices_are_checked_and_chosen),
        ADMISSION_TEST(a_rank_of_a_job_decides_the_device),
        ADMISSION_TEST(what_this_version_cannot_honour_is_refused),
        ADMISSION_TEST(sm_requests_name_the_limit_they_break),
        ADMISSION_TEST(only_reservations_that_there_are_can_be_attached_to),
        ADMISSION_TEST(names_cannot_command_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
