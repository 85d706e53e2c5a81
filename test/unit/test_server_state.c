// What operators set, kept as text: what was written is read back the same, and what is broken is
// refused with its line, whatever the bytes.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "server/state/state_writer.h"

static const char full[] = "# a comment\n"
                           "; another\n"
                           "\n"
                           "[default]\n"
                           "percentage = 50\n"
                           "  mem=8G  \n"
                           "class = best-effort\n"
                           "[others]\n"
                           "user-sessions = 7\n"
                           "user-hosts = 8\n"
                           "user-host-mem = 64M\n"
                           "user-sets = 3\n"
                           "user-driver-mem = 32M\n"
                           "user-compile = 150\n"
                           "user-pieces = 9\n"
                           "[user 1000]\n"
                           "sms = 32\n"
                           "exclusive = yes\n"
                           "user-mem = 12345679\n"
                           "trust = yes\n"
                           "[ user   65534 ]\n"
                           "mask = 0-7,16,18-19\n"
                           "exclusive = no\n"
                           "priority = 3\n"
                           "weight = 1000\n"
                           "inflight = 4\n"
                           "trust = no\n"
                           "[device 7]\n"
                           "latency-sms = 0\n"
                           "[reservation render.1]\n"
                           "device = 1\n"
                           "sms = 9\n"
                           "[reservation b]\n"
                           "mask = 511\n"
                           "[provision]\n"
                           "mode = weighted"; // and no newline

static void parse(struct settings *settings, const char *text)
{
    char error[STATE_ERROR_MAX];

    memset(settings, 0, sizeof(*settings));
    if (!settings_read(settings, NULL, text, strlen(text), NULL, error))
        fail_msg("%s", error);
}

static void all_that_can_be_set_is_read(void **state)
{
    struct settings s;

    (void)state;
    parse(&s, full);
    assert_int_equal(s.everybody.fields, CTL_PERCENTAGE | CTL_MEM | CTL_CLASS);
    assert_int_equal(s.everybody.hundredths, 5000);
    assert_int_equal(s.everybody.mem, UINT64_C(8) << 30);
    assert_int_equal(s.everybody.cls, GS_CLASS_BEST_EFFORT);
    assert_int_equal(s.user_count, 3);
    const struct ctl_settings *user = settings_find_user(&s, 65534);
    assert_non_null(user);
    assert_int_equal(user->fields, CTL_MASK | CTL_EXCLUSIVE | CTL_PRIORITY | CTL_WEIGHT |
                                       CTL_LAUNCHES_MAX | CTL_TRUST);
    assert_int_equal(user->sm_mask[0], 0xd00ff);
    assert_int_equal(user->exclusive, 0);
    assert_int_equal(user->trust, 0);
    user = settings_find_user(&s, 1000);
    assert_int_equal(user->exclusive, 1);
    assert_int_equal(user->user_mem, 12345679);
    assert_int_equal(user->trust, 1);
    user = settings_find_user(&s, CTL_OTHERS);
    assert_int_equal(user->user_sessions, 7);
    assert_int_equal(user->user_hosts, 8);
    assert_int_equal(user->user_host_mem, 64u << 20);
    assert_int_equal(user->user_sets, 3);
    assert_int_equal(user->user_driver_mem, 32u << 20);
    assert_int_equal(user->user_compile, 150);
    assert_int_equal(user->user_pieces, 9);
    assert_null(settings_find_user(&s, 999));
    assert_int_equal(s.device[7].fields, CTL_LATENCY_SMS);
    uint32_t at = settings_find_reservation(&s, "render.1");
    assert_true(at < SETTINGS_RESERVATIONS_MAX);
    assert_int_equal(s.reservation[at].device, 1);
    assert_int_equal(s.reservation[at].sms, 9);
    at = settings_find_reservation(&s, "b");
    assert_int_equal(s.reservation[at].wanted.word[7], UINT64_C(1) << 63);
    assert_int_equal(s.provision, CTL_PROVISION_WEIGHTED);
}

static void what_is_written_is_read_back_the_same(void **state)
{
    struct settings one, two;
    size_t length, again;

    (void)state;
    parse(&one, full);
    char *text = state_print(&one, &length);
    assert_non_null(text);
    parse(&two, text);
    assert_memory_equal(&one.everybody, &two.everybody, sizeof(one.everybody));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(one.user[i].uid, two.user[i].uid);
        assert_memory_equal(&one.user[i].set, &two.user[i].set, sizeof(one.user[i].set));
    }
    assert_memory_equal(one.device, two.device, sizeof(one.device));
    assert_memory_equal(one.reservation, two.reservation, sizeof(one.reservation));
    assert_int_equal(one.provision, two.provision);
    char *second = state_print(&two, &again);
    assert_string_equal(text, second);
    free(text);
    free(second);
}

static void a_broken_file_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"percentage = 5", "line 1: 'percentage' before the first [section]"},
        {"[default]\nfoo = 5", "line 2: there is no setting 'foo' here"},
        {"[default]\n\npercentage 5", "line 3: 'percentage 5' is no 'name = value'"},
        {"[default]\npercentage = 0", "line 2: percentage = 0: 0.01 to 100"},
        {"[default]\npercentage = 101", "line 2: percentage = 101: 0.01 to 100"},
        {"[default]\npercentage = 5 6", "line 2: percentage = 5 6"},
        {"[default]\npercentage = -1", "line 2: percentage = -1"},
        {"[default]\npercentage =", "line 2: percentage = : 0.01 to 100"},
        {"[default]\nweight = 0", "line 2: weight = 0: 1 to 1000"},
        {"[default]\nweight = 1001", "line 2: weight = 1001"},
        {"[default]\nmem = 0", "line 2: mem = 0"},
        {"[default]\nmem = 2047K", "line 2: mem = 2047K: bytes, 2M at least"},
        {"[user 1]\nuser-mem = 1M", "line 2: user-mem = 1M: bytes, 2M at least"},
        {"[default]\ninflight = 0", "line 2: inflight = 0: 1 to 4096"},
        {"[default]\nmem = 8X", "line 2: mem = 8X: bytes"},
        {"[default]\nmem = 99999999T", "line 2: mem"},
        {"[default]\nmask = 7-3", "line 2: mask = 7-3: SMs, such as"},
        {"[default]\nmask = 512", "line 2: mask"},
        {"[default]\nmask = 1,", "line 2: mask"},
        {"[default]\nclass = best", "line 2: class = best: latency, normal or"},
        {"[default]\nsms = 4\nsms = 4", "line 3: sms a second time"},
        {"[default]\nexclusive = yes\n[user 1]", "line 3: a section ends here that is exclusive"},
        {"[default]\n[default]", "line 2: [default] a second time"},
        {"[default]\nlatency-sms = 3", "line 2: there is no setting 'latency-sms' here"},
        {"[default]\ntrust = yes", "line 2: there is no setting 'trust' here"},
        {"[others]\ntrust = yes", "line 2: there is no setting 'trust' here"},
        {"[device 0]\ntrust = yes", "line 2: there is no setting 'trust' here"},
        {"[user 1]\ntrust = 1", "line 2: trust = 1: yes or no"},
        {"[device 0]\nsms = 3", "line 2: there is no setting 'sms' here"},
        {"[device 8]", "line 1: '8' is no device"},
        {"[device 1]\n[device 1]", "line 2: [device 1] a second time"},
        {"[user bob]", "line 1: 'bob' is no uid"},
        {"[user 4294967295]", "line 1: '4294967295' is no uid"},
        {"[user 5]\nsms=2\n[user 5]", "line 3: [user 5] a second time"},
        {"[user]", "line 1: '' is no uid"},
        {"[tenant 5]", "line 1: there is no section [tenant]"},
        {"[default x]", "line 1: there is no section [default]"},
        {"[default", "line 1: '[default' is no [section]"},
        {"[]", "line 1: '[]' is no [section]"},
        {"[", "line 1: '[' is no [section]"},
        {"[reservation]", "line 1: '' is no name"},
        {"[reservation a/b]", "line 1: 'a/b' is no name"},
        {"[reservation 01234567890123456789012345678901]\nsms = 1", "is no name"},
        {"[reservation a]\n", "line 1: reservation 'a' ends here without sms or mask"},
        {"[reservation a]\nsms = 1\nmask = 1\n", "line 3: reservation 'a' ends here with both"},
        {"[reservation a]\nsms = 0", "line 2: sms = 0: 1 to 512"},
        {"[reservation a]\ndevice = 8", "line 2: device = 8: 0 to 7"},
        {"[reservation a]\nweight = 8", "line 2: a reservation has device, sms and mask"},
        {"[reservation a]\nsms = 1\n[reservation a]", "line 3: [reservation a] a second time"},
        {"[provision]\nmode = fair", "line 2: mode = fair: exact, uniform"},
        {"[provision]\nmode = half\nmode = half", "line 3: [provision] has one mode"},
        {"[provision]\n[provision]", "line 2: [provision] a second time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char error[STATE_ERROR_MAX] = "";
        struct settings settings = {0};

        if (settings_read(&settings, NULL, cases[i].text, strlen(cases[i].text), NULL, error))
            fail_msg("read: %s", cases[i].text);
        if (!strstr(error, cases[i].error))
            fail_msg("'%s': the error is '%s'", cases[i].text, error);
        assert_int_equal(settings.user_count, 0);
    }
}

static void too_much_is_refused(void **state)
{
    char *text = malloc(200000), *at = text, error[STATE_ERROR_MAX];
    struct settings settings = {0};

    (void)state;
    for (unsigned i = 0; i <= SETTINGS_RESERVATIONS_MAX; i++)
        at += sprintf(at, "[reservation r%u]\nsms = 1\n", i);
    assert_false(settings_read(&settings, NULL, text, (size_t)(at - text), NULL, error));
    assert_non_null(strstr(error, "more than 32 reservations"));
    at = text;
    for (unsigned i = 0; i <= SETTINGS_USERS_MAX; i++)
        at += sprintf(at, "[user %u]\nsms = 1\n", i * 7919 % 65536);
    memset(&settings, 0, sizeof(settings));
    assert_false(settings_read(&settings, NULL, text, (size_t)(at - text), NULL, error));
    assert_non_null(strstr(error, "more than 1024 users"));
    memset(text, 'x', 100000);
    memset(&settings, 0, sizeof(settings));
    assert_false(settings_read(&settings, NULL, text, 100000, NULL, error));
    assert_non_null(strstr(error, "line 1: too long"));
    memset(&settings, 0, sizeof(settings));
    assert_false(settings_read(&settings, NULL, "[default]\n\0", 11, NULL, error));
    assert_non_null(strstr(error, "line 2: not text"));
    free(text);
}

// Any bytes, and good files with some of them changed: what is read can be written and read again.
static void random_bytes_are_read_or_refused(void **state)
{
    unsigned read = 0;

    (void)state;
    srand(17);
    for (int round = 0; round < 20000; round++) {
        char text[sizeof(full)], error[STATE_ERROR_MAX] = "";
        struct settings settings = {0};
        size_t size = sizeof(full) - 1;

        memcpy(text, full, sizeof(full));
        if (round % 4 == 0)
            size = (size_t)rand() % size;
        for (int i = rand() % 4; i >= 0 && size; i--) {
            static const char likely[] = "[]=\n #-,09mue ";
            text[(size_t)rand() % size] =
                rand() % 3 ? likely[(size_t)rand() % (sizeof(likely) - 1)] : (char)rand();
        }
        if (!settings_read(&settings, NULL, text, size, NULL, error)) {
            assert_memory_equal(error, "line ", 5);
            assert_true(strlen(error) < STATE_ERROR_MAX);
            continue;
        }
        read++;
        size_t length;
        char *printed = state_print(&settings, &length);
        struct settings again = {0};
        if (!settings_read(&again, NULL, printed, length, NULL, error))
            fail_msg("%s in what was written: %s", error, printed);
        assert_memory_equal(&settings.everybody, &again.everybody, sizeof(again.everybody));
        free(printed);
    }
    assert_true(read > 500);
}

/* ---- The file -------------------------------------------------------------------------------- */

static char folder[64], path[96];

static int folder_setup(void **state)
{
    (void)state;
    log_init("test", "error");
    strcpy(folder, "/tmp/gshare-state-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/state", folder);
    return 0;
}

static int folder_teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); // nothing else is left in it
}

// As a server does that is there for just this.
static void file_make(const char *text)
{
    char error[STATE_ERROR_MAX];
    int held = state_take(path, error);

    assert_true(held >= 0);
    if (!state_save(path, &held, text, strlen(text), error))
        fail_msg("%s", error);
    close(held);
}

static unsigned done_count; // events of the writer, which has the loop for itself

static void loop_until_done(struct loop *loop, unsigned count)
{
    while (done_count < count) {
        struct epoll_event event;

        if (epoll_wait(loop->epoll_fd, &event, 1, 60000) != 1)
            fail_msg("nothing is written");
        struct watch *watch = event.data.ptr;
        watch->ready(watch, event.events);
        done_count++;
    }
}

static void the_writer_brings_the_newest_to_the_disk(void **state)
{
    char error[STATE_ERROR_MAX];
    struct state_writer writer;
    struct settings settings = {0}, read = {0};
    struct loop loop;

    (void)state;
    done_count = 0;
    assert_int_equal(loop_init(&loop), 0);
    assert_int_equal(state_writer_init(&writer, &loop, path, state_take(path, error)), 0);
    assert_true(state_writer_idle(&writer));
    settings.everybody.fields = CTL_SMS;
    for (settings.everybody.sms = 1; settings.everybody.sms < 50; settings.everybody.sms++)
        state_writer_write(&writer, &settings);
    loop_until_done(&loop, 1);
    state_writer_deinit(&writer, &loop); // writes what is still to be written
    loop_deinit(&loop);
    if (!state_load(&read, path, error))
        fail_msg("%s", error);
    assert_int_equal(read.everybody.sms, 49);
}

static void what_cannot_be_written_is_told_and_the_old_file_stays(void **state)
{
    char error[STATE_ERROR_MAX], blocked[128];
    struct state_writer writer;
    struct settings settings = {0}, read = {0};
    struct loop loop;

    (void)state;
    done_count = 0;
    file_make("[default]\nsms = 5\n");
    snprintf(blocked, sizeof(blocked), "%s.new", path);
    assert_int_equal(mkdir(blocked, 0700), 0); // nobody can write there, not even root
    assert_int_equal(loop_init(&loop), 0);
    assert_int_equal(state_writer_init(&writer, &loop, path, state_take(path, error)), 0);
    state_writer_write(&writer, &settings);
    loop_until_done(&loop, 1);
    assert_non_null(state_writer_failure(&writer));
    assert_non_null(strstr(state_writer_failure(&writer), strerror(EISDIR)));
    rmdir(blocked);
    assert_true(state_load(&read, path, error));
    assert_int_equal(read.everybody.sms, 5);
    state_writer_write(&writer, &settings);
    loop_until_done(&loop, 2);
    assert_null(state_writer_failure(&writer));
    state_writer_deinit(&writer, &loop);
    loop_deinit(&loop);
}

static void a_folder_that_there_is_not_is_told_at_the_start(void **state)
{
    char error[STATE_ERROR_MAX], nowhere[128];

    (void)state;
    snprintf(nowhere, sizeof(nowhere), "%s/nowhere/state", folder);
    assert_int_equal(state_take(nowhere, error), -1);
    assert_non_null(strstr(error, "folder"));
    assert_int_equal(state_take(folder, error), -1);
    assert_non_null(strstr(error, strerror(EISDIR)));
}

// Whatever its holder writes, and by whatever name it is called.
static void a_file_is_one_servers(void **state)
{
    char error[STATE_ERROR_MAX], other[128];
    struct settings settings = {0};
    int held, second;

    (void)state;
    held = state_take(path, error);
    assert_true(held >= 0);
    assert_true(state_load(&settings, path, error)); // it was made, and is empty
    assert_int_equal(settings.everybody.fields, 0);
    snprintf(other, sizeof(other), "%s/link", folder);
    assert_int_equal(symlink(path, other), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(state_take(path, error), -1);
        assert_non_null(strstr(error, "another server"));
        assert_int_equal(state_take(other, error), -1);
        assert_true(state_save(path, &held, "[default]\nsms = 5\n", 18, error));
    }
    unlink(other);
    close(held);
    second = state_take(path, error);
    assert_true(second >= 0);
    assert_true(state_load(&settings, path, error));
    assert_int_equal(settings.everybody.sms, 5);
    close(second);
}

// While another process writes it anew again and again.
static void there_is_no_moment_to_take_it_from_its_holder(void **state)
{
    char error[STATE_ERROR_MAX], byte = 0;
    int held = state_take(path, error), ends[2], status;
    pid_t pid;

    (void)state;
    assert_true(held >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        for (int i = 0; i < 300; i++)
            byte |= !state_save(path, &held, "[default]\nsms = 5\n", 18, error);
        if (write(ends[1], &byte, 1) == 1) // and it holds the file until it is heard
            status = (int)read(ends[1], &byte, 1);
        _exit(0);
    }
    close(held);
    close(ends[1]);
    while (recv(ends[0], &byte, 1, MSG_DONTWAIT) != 1) {
        if (state_take(path, error) >= 0)
            fail_msg("taken from its holder");
    }
    close(ends[0]);
    assert_int_equal(byte, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    held = state_take(path, error); // its death let go of it
    assert_true(held >= 0);
    close(held);
}

// Who asks whether all is on the disk must not be told so by a write that has just failed.
static void a_failed_write_is_known_when_it_counts_as_done(void **state)
{
    char error[STATE_ERROR_MAX], blocked[128];
    struct settings settings = {0};
    struct state_writer writer;
    struct epoll_event event;
    struct loop loop;

    (void)state;
    done_count = 0;
    file_make("[default]\nsms = 5\n");
    snprintf(blocked, sizeof(blocked), "%s.new", path);
    assert_int_equal(mkdir(blocked, 0700), 0);
    assert_int_equal(loop_init(&loop), 0);
    assert_int_equal(state_writer_init(&writer, &loop, path, state_take(path, error)), 0);
    state_writer_write(&writer, &settings);
    assert_false(state_writer_idle(&writer));
    assert_int_equal(epoll_wait(loop.epoll_fd, &event, 1, 60000), 1); // the thread is done
    assert_false(state_writer_idle(&writer));
    loop_until_done(&loop, 1);
    assert_true(state_writer_idle(&writer));
    assert_non_null(state_writer_failure(&writer));
    rmdir(blocked);
    state_writer_deinit(&writer, &loop);
    loop_deinit(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_can_be_set_is_read),
        cmocka_unit_test(what_is_written_is_read_back_the_same),
        cmocka_unit_test(a_broken_file_is_refused_with_its_line),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(random_bytes_are_read_or_refused),
        cmocka_unit_test_setup_teardown(the_writer_brings_the_newest_to_the_disk, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_failed_write_is_known_when_it_counts_as_done,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_there_is_not_is_told_at_the_start,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_file_is_one_servers, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(there_is_no_moment_to_take_it_from_its_holder, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_told_and_the_old_file_stays,
                                        folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
