/* test_common_reply_socket.c - an answer by a socket comes from the server alone, and the server is
 * told whose the socket is. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/reply_socket.h"

#define STRANGER 65534u
#define SECOND   1000

static char name[64];
static struct reply_socket own;

static int listen_setup(void **state)
{
    (void)state;
    snprintf(name, sizeof(name), "/test.reply.%d", (int)getpid());
    return reply_socket_listen(&own, name);
}

static int close_teardown(void **state)
{
    (void)state;
    reply_socket_close(&own);
    return 0;
}

/* A server that connects and says this. */
static int answer_with(const char *text)
{
    uid_t client = STRANGER;
    int fd = reply_socket_connect(name, &client);

    assert_true(fd >= 0);
    assert_int_equal(client, geteuid());
    assert_int_equal(send(fd, text, strlen(text), MSG_DONTWAIT), strlen(text));
    return fd;
}

static void the_answer_is_received_with_its_size(void **state)
{
    char answer[16];
    int fd;

    (void)state;
    assert_int_equal(reply_socket_receive(&own, geteuid(), answer, sizeof(answer), 0), -1);
    assert_int_equal(errno, ETIMEDOUT);
    fd = answer_with("hello");
    close(fd); /* what was sent before is received all the same */
    assert_int_equal(reply_socket_receive(&own, geteuid(), answer, sizeof(answer), SECOND), 5);
    assert_memory_equal(answer, "hello", 5);
}

static void nobody_listens_once_it_is_closed(void **state)
{
    uid_t client;

    (void)state;
    reply_socket_close(&own);
    assert_int_equal(reply_socket_connect(name, &client), -1);
    assert_int_equal(errno, ECONNREFUSED);
}

/* A supervisor that ends before it has answered leaves an end of the connection. */
static void another_supervisor_may_answer(void **state)
{
    char answer[16];
    uid_t client;
    int fd = reply_socket_connect(name, &client);

    (void)state;
    assert_int_equal(reply_socket_receive(&own, geteuid(), answer, sizeof(answer), 0), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(own.connection >= 0);
    close(fd);
    assert_int_equal(reply_socket_receive(&own, geteuid(), answer, sizeof(answer), SECOND), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(own.connection < 0);
    fd = answer_with("again");
    assert_int_equal(reply_socket_receive(&own, geteuid(), answer, sizeof(answer), SECOND), 5);
    close(fd);
}

/* Fills the line with connections that lie, from another user's process. */
static void strangers_connect(void)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        uid_t client;
        unsigned count = 0;

        if (setgid(STRANGER) < 0 || setuid(STRANGER) < 0)
            _exit(1);
        for (int fd; (fd = reply_socket_connect(name, &client)) >= 0; count++) {
            if (send(fd, "a lie", 5, MSG_NOSIGNAL) != 5)
                _exit(2);
        }
        _exit(errno == EAGAIN && count > 0 ? 0 : 3); /* the line is full: it does not block */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_stranger_cannot_answer(void **state)
{
    char answer[16];
    unsigned turned_away = 0;
    uid_t client;
    int fd;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can become another user */
    strangers_connect();
    assert_int_equal(reply_socket_connect(name, &client), -1);
    assert_int_equal(errno, EAGAIN);
    /* Each call turns one away. */
    while ((fd = reply_socket_connect(name, &client)) < 0) {
        assert_int_equal(reply_socket_receive(&own, 0, answer, sizeof(answer), SECOND), -1);
        assert_int_equal(errno, ETIMEDOUT);
        turned_away++;
    }
    assert_true(turned_away > 0);
    assert_int_equal(send(fd, "truth", 5, MSG_DONTWAIT), 5);
    for (unsigned i = 0; i < 1000; i++) {
        ssize_t n = reply_socket_receive(&own, 0, answer, sizeof(answer), SECOND);
        if (n < 0)
            continue;
        assert_int_equal(n, 5);
        assert_memory_equal(answer, "truth", 5);
        close(fd);
        return;
    }
    fail_msg("the server's answer did not come through");
}

static void its_maker_is_told_whoever_connects(void **state)
{
    int ready[2], end[2], status;
    uid_t client = 0;
    char byte = 0;
    pid_t pid;
    int fd;

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can become another user */
    reply_socket_close(&own);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(end[1]);
        if (setgid(STRANGER) < 0 || setuid(STRANGER) < 0 || reply_socket_listen(&own, name) < 0 ||
            write(ready[1], &byte, 1) != 1)
            _exit(1);
        _exit(read(end[0], &byte, 1) == 0 ? 0 : 2);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    fd = reply_socket_connect(name, &client);
    assert_true(fd >= 0);
    assert_int_equal(client, STRANGER);
    close(fd);
    close(end[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(end[0]);
    close(ready[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_answer_is_received_with_its_size, listen_setup,
                                        close_teardown),
        cmocka_unit_test_setup_teardown(nobody_listens_once_it_is_closed, listen_setup,
                                        close_teardown),
        cmocka_unit_test_setup_teardown(another_supervisor_may_answer, listen_setup,
                                        close_teardown),
        cmocka_unit_test_setup_teardown(a_stranger_cannot_answer, listen_setup, close_teardown),
        cmocka_unit_test_setup_teardown(its_maker_is_told_whoever_connects, listen_setup,
                                        close_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
