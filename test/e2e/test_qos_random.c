/*
 * test_qos_random.c - a thousand random changes by eight tenants and the operator: each tenant runs
 * on exactly the SMs that it has been granted, and nobody on an exclusive tenant's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/request.h"
#include "harness/harness.h"
#include "where.h"

#define TENANTS 8u
#define STEPS   1000u

static struct tenant {
    bool attached;
    bool exclusive;
    struct where where;
} tenants[TENANTS];

static struct where observer; /* has no wish; for what the device is */
static bool reserved;

/* ---- Checks ---------------------------------------------------------------------------------- */

/* A grant may be on its way to somebody: read until two readings of all agree. */
static void grants_read(struct sm_mask granted[TENANTS + 1])
{
    struct sm_mask again[TENANTS + 1];

    for (;;) {
        for (unsigned round = 0; round < 2; round++) {
            struct sm_mask *to = round ? again : granted;
            to[TENANTS] = where_granted(&observer);
            for (unsigned i = 0; i < TENANTS; i++)
                to[i] =
                    tenants[i].attached ? where_granted(&tenants[i].where) : (struct sm_mask){{0}};
        }
        if (!memcmp(granted, again, sizeof(again)))
            return;
    }
}

static void exclusive_ones_are_alone(void)
{
    struct sm_mask granted[TENANTS + 1];

    grants_read(granted);
    for (unsigned i = 0; i < TENANTS; i++) {
        if (!tenants[i].attached || !tenants[i].exclusive)
            continue;
        for (unsigned n = 0; n <= TENANTS; n++) {
            if (n != i)
                CHECK(!sm_mask_meets(&granted[i], &granted[n]));
        }
    }
}

static void runs_where_granted(struct tenant *tenant)
{
    if (tenant->attached)
        where_exact(&tenant->where);
}

/* A wish is granted or refused with a reason; then all is as it was. */
static bool granted(gs_status status)
{
    if (status == GS_OK)
        return true;
    if (status != GS_ERR_LIMIT && status != GS_ERR_NOT_FOUND && status != GS_ERR_INVALID_VALUE)
        test_fail(__FILE__, __LINE__, "%s: %s", gs_status_name(status), gs_last_error_message());
    CHECK(strlen(gs_last_error_message()) > 10);
    return false;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static unsigned below(unsigned n)
{
    return (unsigned)(test_random() % n);
}

static gs_qos random_wish(void)
{
    const struct sm_mask all = sm_mask_first(observer.sms);
    gs_qos qos = GS_QOS_INIT;

    switch (below(5)) {
    case 0:
        break;
    case 1:
        qos = where_count(1 + below(observer.sms));
        break;
    case 2:
        qos = where_percentage(1 + below(100));
        break;
    default: {
        const struct sm_mask mask = where_some(&all);
        qos = where_mask(&mask);
    }
    }
    if (qos.affinity.type != GS_EXEC_AFFINITY_NONE && below(4) == 0) {
        qos = where_count(1 + below(observer.sms / 4));
        qos.affinity.exclusive = 1;
    }
    qos.priority = (int)below(4);
    /* Not best effort: beside latency tenants that has less than its grant. */
    qos.cls = below(2) ? GS_CLASS_NORMAL : GS_CLASS_LATENCY;
    qos.weight = below(4);
    return qos;
}

static void step_attach(struct tenant *tenant)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = random_wish();
    gs_session session;

    if (tenant->attached)
        return;
    params.qos = &qos;
    if (below(4) == 0)
        params.reservation = "part";
    if (!granted(gs_attach(&params, &session)))
        return;
    tenant->attached = true;
    tenant->exclusive = qos.affinity.exclusive;
    where_open(&tenant->where, session);
}

static void step_detach(struct tenant *tenant)
{
    if (tenant->attached)
        CHECK_OK(gs_detach(tenant->where.session));
    tenant->attached = false;
}

static void step_set(struct tenant *tenant)
{
    gs_qos qos = random_wish(), got = GS_QOS_INIT;

    if (!tenant->attached || !granted(gs_set_qos(tenant->where.session, &qos)))
        return;
    tenant->exclusive = qos.affinity.exclusive;
    CHECK_OK(gs_get_qos(tenant->where.session, &got));
    CHECK_EQUAL(got.cls, qos.cls);
    CHECK_EQUAL(got.priority, qos.priority);
    CHECK_EQUAL(got.weight, qos.weight ? qos.weight : 1);
    CHECK_EQUAL(!got.affinity.exclusive, !qos.affinity.exclusive);
    if (qos.affinity.type == GS_EXEC_AFFINITY_SM_COUNT)
        CHECK(got.affinity.sm_count <= where_rounded(&tenant->where, qos.affinity.sm_count));
}

/* On some of the tenant's SMs, or a refusal where they have just been taken. */
static void step_override(struct tenant *tenant)
{
    struct where *where = &tenant->where;

    if (!tenant->attached)
        return;
    for (;;) {
        const struct sm_mask before = where_granted(where), mask = where_some(&before);
        const unsigned count = sm_mask_count(&mask);
        const gs_qos qos = below(2) ? where_mask(&mask) : where_count(count);
        gs_status status = where_launch(where, NULL, count, &qos, NULL);
        if (status == GS_OK)
            CHECK_OK(gs_sync(where->session));
        const struct sm_mask after = where_granted(where);
        if (!sm_mask_equal(&before, &after))
            continue;
        CHECK_OK(status);
        const struct sm_mask used = where_read(where, NULL, count);
        if (qos.affinity.type == GS_EXEC_AFFINITY_SM_MASK)
            CHECK_SMS(used, mask);
        CHECK(sm_mask_within(&used, &before));
        return;
    }
}

static gs_status operator_ask(uint16_t op, unsigned sms)
{
    struct ctl_reserve request = {.name = "part", .sms = sms};
    struct ctl_done_reply reply;
    char message[REQUEST_MESSAGE_MAX] = "";
    struct control control;

    CHECK_OK(control_open(&control, getenv("GSHARE_INSTANCE"), message));
    gs_status status = control_ask(&control, &request.h, op, sizeof(request), &reply, sizeof(reply),
                                   clock_ns() + 20000000000u, message);
    control_close(&control);
    if (status != GS_OK && status != GS_ERR_LIMIT && status != GS_ERR_INVALID_VALUE)
        test_fail(__FILE__, __LINE__, "%s: %s", gs_status_name(status), message);
    return status;
}

static void step_reserve(struct tenant *unused)
{
    (void)unused;
    gs_status status = reserved ? operator_ask(CTL_RELEASE, 0)
                                : operator_ask(CTL_RESERVE, 1 + below(observer.sms / 4));

    if (status == GS_OK)
        reserved = !reserved;
}

static void (*const steps[])(struct tenant *) = {
    step_attach,   step_attach,   step_detach,        step_set,           step_set,
    step_override, step_override, runs_where_granted, runs_where_granted, step_reserve,
};

static void a_thousand_random_changes_leave_every_grant_exact(void)
{
    struct server *server = server_start(NULL);
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    where_open(&observer, session);
    if (!observer.granularity) {
        gs_detach(session);
        server_stop(server);
        test_skip("the device has no partitions");
    }
    where_find_groups(&observer);
    for (unsigned i = 0; i < STEPS; i++) {
        struct tenant *tenant = &tenants[below(TENANTS)];
        steps[below(ARRAY_SIZE(steps))](tenant);
        runs_where_granted(tenant);
        exclusive_ones_are_alone();
        if (i % 20 == 19) {
            where_exact(&observer);
            for (unsigned n = 0; n < TENANTS; n++)
                runs_where_granted(&tenants[n]);
        }
    }
    for (unsigned n = 0; n < TENANTS; n++)
        step_detach(&tenants[n]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(a_thousand_random_changes_leave_every_grant_exact, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
