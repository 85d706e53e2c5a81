// Sessions come, go and change their requests and operators theirs, in random order: SMs that are
// one's alone are never another's, all holds in the end, and every request has had one answer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grants_rig.h"

static uint32_t dice(uint32_t sides)
{
    return (uint32_t)rand() % sides;
}

static struct wire_qos request_random(void)
{
    struct wire_qos qos = {.affinity_type = dice(4), .exclusive = dice(3) == 0};

    qos.sm_count = 1 + dice(qos.exclusive ? 6 : SMS);
    qos.percentage = 1 + dice(qos.exclusive ? 40 : 100);
    for (uint32_t g = 0; g < SMS / 2; g++)
        qos.sm_mask[0] |= (uint64_t)(dice(qos.exclusive ? 5 : 2) == 0 ? 3 : 0) << 2 * g;
    if (qos.sm_mask[0] == 0)
        qos.sm_mask[0] = 3;
    if (qos.affinity_type == GS_EXEC_AFFINITY_NONE)
        qos.exclusive = 0;
    return qos;
}

static struct session *session_random(void)
{
    struct session *t = registry_by_slot(&server.registry, dice(SLOTS));

    return t && t->state == SESSION_OPEN ? t : NULL;
}

static struct ctl_settings settings_random(void)
{
    struct wire_qos qos = request_random();
    struct ctl_settings set = {.fields = (uint32_t)rand() & (uint32_t)rand() & CTL_FIELDS,
                               .hundredths = dice(11000),
                               .sms = dice(SMS + 3),
                               .exclusive = dice(2),
                               .priority = (int32_t)dice(7),
                               .cls = dice(4),
                               .weight = dice(12),
                               .launches_max = dice(9),
                               .latency_sms = dice(SMS),
                               .mem = dice(3) << 21,
                               .user_mem = dice(3) << 21};

    memcpy(set.sm_mask, qos.sm_mask, sizeof(set.sm_mask));
    return set;
}

// Any request of an operator, mostly near to what can be done.
static void operator_random(uint64_t token)
{
    struct reply reply = {dup(answers), geteuid(), CTL_SET, token, 0};
    const struct session *t = session_random();
    struct ctl_set set = {.target = dice(6), .settings = settings_random()};
    struct ctl_reserve reserve = {.sms = dice(5)};
    struct ctl_provision provision = {.mode = dice(5)};

    set.id = set.target == CTL_USER ? 1000 : set.target == CTL_TENANT && t ? t->id : 0;
    set.unset = dice(2) ? CTL_FIELDS : (uint32_t)rand();
    reserve.name[0] = (char)('a' + dice(3));
    memcpy(reserve.sm_mask, set.settings.sm_mask, sizeof(reserve.sm_mask));
    switch (dice(6)) {
    case 0:
        operator_reserve(&server, &reserve, &reply);
        break;
    case 1:
    case 2:
        operator_release(&server, &reserve, &reply);
        break;
    case 3:
        operator_provision(&server, &provision, &reply);
        break;
    default:
        operator_set(&server, &set, &reply);
        break;
    }
    reply_close(&reply);
    reconcile(&server);
}

static struct {
    uint64_t asked, answered, good; // requests; answers, and those with GS_OK
    uint64_t token;                 // of the next request
} sum;

// The queue of answers holds ten.
static bool may_ask(void)
{
    return sum.asked - sum.answered < 9;
}

static void answers_count(void)
{
    gs_status status;

    while (answer_take(&status, NULL)) {
        sum.answered++;
        sum.good += status == GS_OK;
    }
}

static void worker_random(uint32_t slot)
{
    loop_turn();
    while (worker_hears())
        continue;
    if (seat[slot].opening)
        seat_open(registry_by_slot(&server.registry, slot));
    else if (seat[slot].closing || seat[slot].pending)
        worker_answers(slot, dice(20) ? GS_OK : GS_ERR_NO_DEVICE_MEMORY);
}

static void step_random(bool operators)
{
    struct wire_qos qos = request_random();
    struct session *t = session_random();
    char text[REFUSAL_TEXT_MAX];
    uint32_t slot = dice(SLOTS), operators_wait = server.changes.count;

    switch (dice(9)) {
    case 0:
        attach_space = server.settings.reservation[0].name[0] && dice(3) == 0;
        if (server.registry.count < SLOTS)
            attach(dice(2) ? &qos : NULL, text);
        attach_space = 0;
        break;
    case 8:
        if (operators && operators_wait < 4 && may_ask()) {
            operator_random(sum.token++);
            sum.asked++;
        }
        break;
    case 1:
        if (t && dice(2))
            leave(t);
        break;
    case 2:
    case 3:
        if (t && may_ask()) {
            ask(t, dice(5) ? qos : (struct wire_qos){0}, sum.token++);
            sum.asked++;
        }
        break;
    default:
        worker_random(slot);
        break;
    }
    answers_count();
}

// What the slot waits for happens. false: nothing.
static bool slot_goes_on(uint32_t slot)
{
    struct session *t = registry_by_slot(&server.registry, slot);

    if (seat[slot].opening) {
        seat_open(t);
    } else if (seat[slot].pending || seat[slot].closing) {
        worker_answers(slot, GS_OK);
    } else if (t && t->grant.refused && device->grant_retry.due_ns) {
        timer_fires(&device->grant_retry);
    } else {
        return false;
    }
    return true;
}

// All that is under way comes to its end.
static void all_ends(void)
{
    for (bool more = true; more;) {
        more = false;
        loop_turn();
        while (worker_hears())
            more = true;
        for (uint32_t i = 0; i < SLOTS; i++)
            more |= slot_goes_on(i);
        answers_count();
    }
}

// Sessions come, go and change their requests, operators set, reserve and provision, while the
// worker answers late, in any order, and now and then with a refusal. seats_check looks after each
// of its answers; in the end all holds, and every request has had one answer.
static void random_sequences_never_share_exclusive_sms(void **state)
{
    static const uint32_t modes[] = {CTL_PROVISION_EXACT, CTL_PROVISION_EXACT,
                                     CTL_PROVISION_UNIFORM, CTL_PROVISION_HALF,
                                     CTL_PROVISION_WEIGHTED};

    srand(5);
    for (uint32_t round = 0; round < 200; round++) {
        sum.token = 1000;
        server.settings.provision = modes[round % ARRAY_SIZE(modes)];
        for (uint32_t step = 0; step < 100; step++)
            step_random(round % 2);
        all_ends();
        for (struct session *t = NULL; (t = registry_next(&server.registry, t));) {
            if (!grants_in_force(t))
                fail_msg("round %u: session %llu in state %d never got its grant", round,
                         (unsigned long long)t->id, (int)t->state);
        }
        assert_null(device->awaited);
        assert_int_equal(grants_teardown(state), 0);
        assert_int_equal(grants_setup(state), 0);
    }
    assert_int_equal(sum.asked, sum.answered);
    assert_true(sum.good > 500 && sum.good < sum.answered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRANTS_TEST(random_sequences_never_share_exclusive_sms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
