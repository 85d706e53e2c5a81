/*
 * test_worker_bell.c - the doorbell: a session whose client has rung is polled until its need_bell
 * is set again, whatever the order in which its client and the lane came.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/polling.h"

static struct seg_client client;
static struct seg_server server;
static struct lane lane;
static struct session session;
static mqd_t bell;
static char name[64];

static int bell_begin(void **state)
{
    struct mq_attr attr = {.mq_maxmsg = 8, .mq_msgsize = BELL_MESSAGE_SIZE};

    (void)state;
    snprintf(name, sizeof(name), "/gshare.test-bell-%d", (int)getpid());
    bell = mq_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_CLOEXEC, 0600, &attr);
    return bell != (mqd_t)-1 && bell_open(name) ? 0 : -1;
}

static int bell_end(void **state)
{
    (void)state;
    mq_close(bell);
    return mq_unlink(name);
}

static void ring(void)
{
    const uint32_t slot = session.slot;

    assert_int_equal(mq_send(bell, (const char *)&slot, sizeof(slot), 0), 0);
}

static void session_begin(void)
{
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    memset(&lane, 0, sizeof(lane));
    session = (struct session){.slot = 3, .lane = &lane, .client = &client, .server_page = &server};
    domain_join(&session);
    session_table_add(&session);
    session_poll_begin(&session);
    session_poll_end(&session);
    assert_false(session.sched.polled);
    assert_int_equal(atomic_load(&server.need_bell), 1);
}

static void who_rings_for_a_record_is_polled(void **state)
{
    (void)state;
    session_begin();
    atomic_store(&client.activity, 1);
    assert_int_equal(atomic_exchange(&server.need_bell, 0), 1);
    ring();
    bell_take();
    assert_true(session.sched.polled);
}

/* The lane saw the record by itself, and the session has fallen silent since. */
static void who_rings_late_can_ring_again(void **state)
{
    (void)state;
    session_begin();
    assert_int_equal(atomic_exchange(&server.need_bell, 0), 1);
    ring();
    bell_take();
    assert_true(session.sched.polled);
    session_poll_end(&session);
    assert_int_equal(atomic_load(&server.need_bell), 1);
}

/* The queue was full, and refused the message. */
static void so_can_who_is_only_looked_at(void **state)
{
    (void)state;
    session_begin();
    assert_int_equal(atomic_exchange(&server.need_bell, 0), 1);
    asleep_look();
    assert_true(session.sched.polled);
}

static void who_has_not_rung_is_left_alone(void **state)
{
    (void)state;
    session_begin();
    ring(); /* a message by another's mistake */
    bell_take();
    asleep_look();
    assert_false(session.sched.polled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_rings_for_a_record_is_polled),
        cmocka_unit_test(who_rings_late_can_ring_again),
        cmocka_unit_test(so_can_who_is_only_looked_at),
        cmocka_unit_test(who_has_not_rung_is_left_alone),
    };

    return cmocka_run_group_tests(tests, bell_begin, bell_end);
}
