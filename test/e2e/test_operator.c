/* test_operator.c - what operators do with gsctl, and what sessions have of it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/request.h"
#include "common/setting_text.h"
#include "common/sm_mask.h"
#include "gsctl_run.h"
#include "harness/harness.h"

/* ---- Helpers --------------------------------------------------------------------------------- */

/* Fails with 1, and says so with these words. */
#define GSCTL_REFUSED(part, ...)                                                                   \
    do {                                                                                           \
        CHECK_EQUAL(gsctl(__VA_ARGS__, NULL), 1);                                                  \
        CHECK_TEXT(output, part);                                                                  \
    } while (0)

struct guest {
    gs_session session;
    unsigned sms, granule; /* of the device */
    char id[24];
};

static struct guest attach(const char *reservation)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    struct guest guest;

    params.reservation = reservation;
    CHECK_OK(gs_attach(&params, &guest.session));
    CHECK_OK(gs_session_info(guest.session, &desc));
    guest.sms = desc.sm_count;
    guest.granule = desc.sm_granularity;
    snprintf(guest.id, sizeof(guest.id), "%llu", (unsigned long long)desc.session_id);
    if (guest.granule == 0)
        test_skip("the device has no partitions of SMs");
    return guest;
}

static unsigned granted(const struct guest *guest)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(guest->session, &affinity));
    return affinity.sm_count;
}

static gs_exec_affinity affinity_of(const struct guest *guest)
{
    gs_exec_affinity affinity;

    CHECK_OK(gs_get_exec_affinity(guest->session, &affinity));
    return affinity;
}

static bool masks_meet(const gs_exec_affinity *a, const gs_exec_affinity *b)
{
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++) {
        if (a->sm_mask[i] & b->sm_mask[i])
            return true;
    }
    return false;
}

static const char *mask_text(gs_exec_affinity affinity)
{
    static char text[200];
    struct sm_mask mask;

    memcpy(mask.word, affinity.sm_mask, sizeof(mask.word));
    return sm_mask_print(text, sizeof(text), &mask);
}

/* As many SMs as such a count is rounded up to. */
static unsigned rounded(const struct guest *guest, unsigned sms)
{
    unsigned up = (sms + guest->granule - 1) / guest->granule * guest->granule;

    return up < guest->sms ? up : guest->sms;
}

static const char *number(unsigned value)
{
    static char text[8][16];
    static unsigned next;

    next = (next + 1) % 8;
    snprintf(text[next], sizeof(text[next]), "%u", value);
    return text[next];
}

/* ---- Set and get ----------------------------------------------------------------------------- */

static void a_session_is_limited_while_it_runs(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    gs_qos qos = GS_QOS_INIT;
    unsigned few = 2 * guest.granule;

    CHECK_EQUAL(granted(&guest), guest.sms);
    GSCTL_OK("set", guest.id, "--sms", number(few), "--weight", "3", "--priority", "1", "--class",
             "normal", "--inflight", "5");
    CHECK_EQUAL(granted(&guest), few);
    GSCTL_OK("get", guest.id);
    CHECK_TEXT(output, "weight 3");
    CHECK_TEXT(output, "5 kernels in flight");
    GSCTL_OK("get", guest.id, "--json");
    CHECK_TEXT(output, "\"inflight\":5");
    GSCTL_OK("ps", "--json");
    CHECK_TEXT(output, "\"weight\":3");

    /* It can lower its limits, never raise them. */
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = guest.sms;
    qos.cls = GS_CLASS_LATENCY;
    qos.priority = 4;
    qos.weight = 900;
    CHECK_OK(gs_set_qos(guest.session, &qos));
    CHECK_EQUAL(granted(&guest), few);
    qos = (gs_qos)GS_QOS_INIT;
    CHECK_OK(gs_get_qos(guest.session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_NORMAL);
    CHECK_EQUAL(qos.priority, 1);
    CHECK_EQUAL(qos.weight, 3);
    qos = (gs_qos)GS_QOS_INIT;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 1;
    CHECK_OK(gs_set_qos(guest.session, &qos));
    CHECK_EQUAL(granted(&guest), guest.granule);

    CHECK_OK(gs_set_qos(guest.session, &(gs_qos)GS_QOS_INIT));
    GSCTL_OK("set", guest.id, "--unset", "all");
    CHECK_EQUAL(granted(&guest), guest.sms);
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

static void the_tightest_of_default_user_and_session_holds(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL), late;
    unsigned half = rounded(&guest, (guest.sms + 1) / 2);

    GSCTL_OK("set", "--default", "--percentage", "50");
    CHECK_EQUAL(granted(&guest), half);
    late = attach(NULL);
    CHECK_EQUAL(granted(&late), half);
    GSCTL_OK("set", "--user", number((unsigned)getuid()), "--sms", "1");
    CHECK_EQUAL(granted(&guest), guest.granule);
    CHECK_EQUAL(granted(&late), guest.granule);
    GSCTL_OK("set", guest.id, "--percentage", "100");
    CHECK_EQUAL(granted(&guest), guest.granule);
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "percentage 50");
    GSCTL_OK("set", "--user", number((unsigned)getuid()), "--unset", "sms");
    CHECK_EQUAL(granted(&late), half);
    GSCTL_OK("set", "--default", "--unset", "percentage");
    CHECK_EQUAL(granted(&guest), guest.sms);
    CHECK_EQUAL(granted(&late), guest.sms);
    CHECK_OK(gs_detach(late.session));
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

static void exclusive_sms_leave_everybody_elses(void)
{
    struct server *server = server_start(NULL);
    struct guest own = attach(NULL), other = attach(NULL), late;
    gs_exec_affinity a, b;
    char mask[32];

    GSCTL_OK("set", own.id, "--sms", number(own.granule), "--exclusive");
    a = affinity_of(&own);
    b = affinity_of(&other);
    CHECK_EQUAL(a.sm_count, own.granule);
    CHECK_EQUAL(b.sm_count, own.sms - own.granule);
    CHECK(!masks_meet(&a, &b));
    late = attach(NULL);
    b = affinity_of(&late);
    CHECK(!masks_meet(&a, &b));
    /* All of the device: others would be left without. */
    GSCTL_REFUSED("would be left without", "set", own.id, "--sms", number(own.sms));
    CHECK_EQUAL(granted(&own), own.granule);
    GSCTL_OK("set", "--default", "--exclusive=no");
    CHECK_OK(gs_detach(late.session));
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "exclusive no");
    GSCTL_OK("set", "--default", "--unset", "exclusive");
    GSCTL_OK("set", own.id, "--unset", "all");
    CHECK_EQUAL(granted(&other), other.sms);
    /* By mask; a group's SMs need not be neighbours, so one that was granted is asked for. */
    snprintf(mask, sizeof(mask), "0-%u", own.sms - 1);
    GSCTL_OK("set", own.id, "--mask", mask);
    CHECK_EQUAL(granted(&own), own.sms);
    CHECK_OK(gs_detach(own.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

static void a_ban_takes_exclusive_sms_that_a_tenant_chose(void)
{
    struct server *server = server_start(NULL);
    struct guest own = attach(NULL), other = attach(NULL);
    gs_qos alone = GS_QOS_INIT, now = GS_QOS_INIT;
    char named[80];

    alone.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    alone.affinity.sm_count = own.granule;
    alone.affinity.exclusive = 1;
    CHECK_OK(gs_set_qos(own.session, &alone));
    CHECK_EQUAL(granted(&other), other.sms - own.granule);
    GSCTL_OK("set", own.id, "--exclusive=no");
    CHECK_EQUAL(affinity_of(&own).exclusive, 0);
    CHECK_EQUAL(granted(&own), own.granule);
    CHECK_EQUAL(granted(&other), other.sms);
    CHECK_EQUAL(gs_set_qos(own.session, &alone), GS_ERR_PERMISSION);
    /* So does one for all, and its end gives back what was asked for. */
    GSCTL_OK("set", "--default", "--exclusive=no");
    GSCTL_OK("set", own.id, "--unset", "exclusive");
    CHECK_EQUAL(affinity_of(&own).exclusive, 0);
    GSCTL_OK("set", "--default", "--unset", "exclusive");
    CHECK_EQUAL(affinity_of(&own).exclusive, 1);
    CHECK_EQUAL(granted(&other), other.sms - own.granule);
    /* A limit that leaves a session nothing of what it asked for is refused by its name. */
    CHECK_OK(gs_get_qos(own.session, &now));
    CHECK_OK(gs_set_qos(own.session, &now));
    GSCTL_OK("set", other.id, "--sms", number(other.granule));
    snprintf(named, sizeof(named), "session %s: no SM of the mask is among those allowed", own.id);
    GSCTL_REFUSED(named, "set", "--default", "--mask", mask_text(affinity_of(&other)));
    CHECK_OK(gs_detach(own.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

/* gsctl itself refuses a value that no device has; a server that is asked all the same does too. */
static void value_refused(const struct server *server, const char *part, uint64_t session,
                          const char *name, const char *value)
{
    const struct setting_field *field = setting_find(name);
    struct ctl_set request = {.target = session ? CTL_TENANT : CTL_DEFAULT, .id = session};
    char message[REQUEST_MESSAGE_MAX], option[32], target[24];
    struct control control = {.queue = -1};
    struct ctl_done_reply reply;

    snprintf(option, sizeof(option), "--%s", name);
    snprintf(target, sizeof(target), "%llu", (unsigned long long)session);
    CHECK_EQUAL(gsctl("set", session ? target : "--default", option, value, NULL), 2);
    CHECK_TEXT(output, field->values);
    CHECK(setting_parse(&request.settings, field, value));
    CHECK_EQUAL(control_open(&control, server->instance, message), GS_OK);
    CHECK_EQUAL(control_ask(&control, &request.h, CTL_SET, sizeof(request), &reply, sizeof(reply),
                            test_deadline(10000), message),
                GS_ERR_INVALID_VALUE);
    CHECK_TEXT(message, part);
    control_close(&control);
}

static void what_cannot_be_is_refused_with_the_limit(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    const uint64_t id = strtoull(guest.id, NULL, 10);
    char beyond[32];

    value_refused(server, "percentage 0: 0.01 to 100", 0, "percentage", "0");
    value_refused(server, "percentage 101: 0.01 to 100", 0, "percentage", "101");
    GSCTL_REFUSED(number(guest.sms), "set", guest.id, "--sms", number(guest.sms + 1));
    snprintf(beyond, sizeof(beyond), "%u", guest.sms);
    GSCTL_REFUSED("which the device has", "set", guest.id, "--mask", beyond);
    if (guest.granule > 1)
        GSCTL_REFUSED("are granted together", "set", guest.id, "--mask", "0");
    value_refused(server, "weight 0: 1 to 1000", id, "weight", "0");
    value_refused(server, "weight 1001: 1 to 1000", id, "weight", "1001");
    value_refused(server, "priority 1000: 0 to", id, "priority", "1000");
    GSCTL_REFUSED("priority 7: 0 to", "set", guest.id, "--priority", "7");
    value_refused(server, "inflight 0: 1 to 4096 kernels", id, "inflight", "0");
    value_refused(server, "mem 0: bytes, 2M at least", id, "mem", "0");
    /* With less nobody could attach. */
    value_refused(server, "mem 2047K: bytes, 2M at least", 0, "mem", "2047K");
    value_refused(server, "user-mem 1M: bytes, 2M at least", 0, "user-mem", "1M");
    GSCTL_REFUSED("for a user or the default", "set", guest.id, "--user-mem", "1G");
    GSCTL_REFUSED("exclusive goes with", "set", guest.id, "--exclusive");
    GSCTL_REFUSED("there is no session 999", "set", "999", "--sms", "2");
    GSCTL_REFUSED("there is no session 999", "get", "999");
    GSCTL_REFUSED("device 9", "set", "--device", "9", "--latency-sms", "2");
    GSCTL_REFUSED("there is no device 9: see gsctl status", "get", "--device", "9");
    GSCTL_REFUSED("so that best-effort work has one", "set", "--device", "0", "--latency-sms",
                  number(guest.sms));
    GSCTL_REFUSED("would be left without SMs", "reserve", "big", "--sms", number(guest.sms),
                  "--device", "0");
    GSCTL_OK("reserve", "some", "--sms", number(guest.sms / 2));
    GSCTL_REFUSED("of the device's are free", "reserve", "big", "--sms", number(guest.sms));
    GSCTL_OK("release", "some");
    GSCTL_REFUSED("no SMs are reserved", "release", "big");
    GSCTL_REFUSED("a name has", "reserve", "a b", "--sms", "2");
    /* And what is wrong before any server is asked. */
    CHECK_EQUAL(gsctl("set", guest.id, NULL), 2);
    CHECK_TEXT(output, "Try 'gsctl set --help'.");
    CHECK_EQUAL(gsctl("--instance", server->instance, "set", guest.id, NULL), 2);
    CHECK_TEXT(output, "Try 'gsctl set --help'.");
    CHECK_EQUAL(gsctl("--instance", server->instance, "ps", "--foo", NULL), 2);
    CHECK_TEXT(output, "Try 'gsctl ps --help'.");
    CHECK_EQUAL(gsctl("set", "--sms", "2", NULL), 2);
    CHECK_EQUAL(gsctl("set", guest.id, "--sms", "-1", NULL), 2);
    CHECK_EQUAL(gsctl("set", guest.id, "--mask", "7-3", NULL), 2);
    CHECK_EQUAL(gsctl("set", guest.id, "--class", "best", NULL), 2);
    CHECK_EQUAL(gsctl("set", guest.id, "--default", "--sms", "2", NULL), 2);
    CHECK_EQUAL(gsctl("set", guest.id, "--unset", "everything", NULL), 2);
    CHECK_EQUAL(gsctl("ps", "--sms", "2", NULL), 2);
    CHECK_TEXT(output, "ps takes no settings");
    CHECK_EQUAL(gsctl("reserve", NULL), 2);
    CHECK_EQUAL(gsctl("reserve", "x", "--sms", "2", "--mask", "0-1", NULL), 2);
    CHECK_EQUAL(gsctl("provision", "fair", NULL), 2);
    CHECK_EQUAL(granted(&guest), guest.sms);
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

static void a_quota_is_live_and_what_is_held_above_it_stays(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    size_t total, left;
    gs_devptr held, more;

    CHECK_OK(gs_malloc(guest.session, 8 << 20, &held));
    CHECK_WITHIN(10000, server_memory_used(server) >= 8 << 20);
    GSCTL_OK("set", guest.id, "--mem", "4M");
    CHECK_TEXT(output, "holds 8 MiB: that stays, new allocations are refused");
    CHECK_STATUS(gs_malloc(guest.session, 2 << 20, &more), GS_ERR_QUOTA);
    GSCTL_OK("set", guest.id, "--unset", "mem");
    GSCTL_OK("set", "--user", number((unsigned)getuid()), "--user-mem", "4M");
    CHECK_TEXT(output, "hold 8 MiB: that stays, new allocations are refused");
    CHECK_STATUS(gs_malloc(guest.session, 2 << 20, &more), GS_ERR_QUOTA);
    GSCTL_OK("set", "--user", number((unsigned)getuid()), "--unset", "user-mem");
    GSCTL_OK("set", guest.id, "--mem", "16M");
    CHECK_OK(gs_mem_info(guest.session, &left, &total));
    CHECK_EQUAL(total, 16 << 20);
    CHECK_STATUS(gs_malloc(guest.session, 32 << 20, &more), GS_ERR_QUOTA);
    CHECK_OK(gs_malloc(guest.session, 4 << 20, &more));
    GSCTL_OK("set", guest.id, "--unset", "mem");
    CHECK_OK(gs_malloc(guest.session, 32 << 20, &more));
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static void a_reservation_is_for_those_who_attach_to_it(void)
{
    struct server *server = server_start(NULL);
    struct guest outside = attach(NULL), inside, second;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    unsigned sms = rounded(&outside, 2 * outside.granule);
    gs_exec_affinity a, b;
    gs_session session;

    params.reservation = "render";
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NOT_FOUND);
    GSCTL_OK("reserve", "render", "--sms", number(sms));
    CHECK_EQUAL(granted(&outside), outside.sms - sms);
    GSCTL_REFUSED("reserved already", "reserve", "render", "--sms", "1");
    GSCTL_OK("get");
    CHECK_TEXT(output, "reservation render");
    inside = attach("render");
    second = attach("render");
    a = affinity_of(&inside);
    b = affinity_of(&outside);
    CHECK_EQUAL(a.sm_count, sms);
    CHECK(!masks_meet(&a, &b));
    CHECK_EQUAL(granted(&second), sms);
    GSCTL_OK("get", inside.id);
    CHECK_TEXT(output, "in reservation render");
    GSCTL_REFUSED("2 sessions are attached to 'render'", "release", "render");
    CHECK_OK(gs_detach(second.session));
    CHECK_OK(gs_detach(inside.session));
    server_wait_tenants(server, 1, 10000);
    GSCTL_OK("release", "render");
    CHECK_EQUAL(granted(&outside), outside.sms);
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NOT_FOUND);
    CHECK_OK(gs_detach(outside.session));
    server_stop(server);
}

static void who_reserves_the_last_sms_is_told_what_that_means(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    const unsigned sms = guest.sms, granule = guest.granule;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    CHECK_OK(gs_detach(guest.session));
    server_wait_tenants(server, 0, 10000);
    GSCTL_OK("reserve", "most", "--sms", number(sms - granule));
    CHECK_EQUAL(strlen(output), 0);
    GSCTL_OK("reserve", "rest", "--sms", number(granule));
    CHECK_TEXT(output, "done, but device 0 has no SMs left for tenants without a reservation");
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_LIMIT);
    CHECK_TEXT(gs_last_error_message(), "SMs of the device are reserved");
    params.reservation = "rest";
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- The worker is lost ---- */

static void settings_and_reservations_outlive_the_worker(void)
{
    struct server *server = server_start(NULL);
    struct guest first = attach(NULL), guest, inside;
    pid_t worker = server_worker_pid(server);
    gs_exec_affinity a, b, c;

    GSCTL_OK("set", "--default", "--sms", number(2 * first.granule), "--weight", "7");
    GSCTL_OK("reserve", "kept", "--sms", number(first.granule));
    GSCTL_OK("set", first.id, "--exclusive", "--sms", number(first.granule));
    kill(worker, SIGKILL);
    CHECK_WITHIN(20000, server_worker_pid(server) != worker && server_worker_pid(server) != 0);
    guest = attach(NULL);
    inside = attach("kept");
    a = affinity_of(&guest);
    b = affinity_of(&inside);
    CHECK_EQUAL(a.sm_count, 2 * guest.granule);
    CHECK_EQUAL(b.sm_count, guest.granule);
    CHECK(!masks_meet(&a, &b));
    GSCTL_OK("get", guest.id);
    CHECK_TEXT(output, "weight 7");
    /* The session of the lost worker has its own again. */
    c = affinity_of(&first);
    CHECK_EQUAL(c.sm_count, first.granule);
    CHECK(!masks_meet(&a, &c) && !masks_meet(&b, &c));
    GSCTL_OK("set", "--default", "--unset", "all");
    CHECK_EQUAL(granted(&guest), guest.sms - 2 * guest.granule);
    GSCTL_OK("set", first.id, "--unset", "all");
    CHECK_EQUAL(granted(&first), first.sms - first.granule);
    CHECK_OK(gs_detach(inside.session));
    CHECK_OK(gs_detach(guest.session));
    CHECK_OK(gs_detach(first.session));
    server_wait_tenants(server, 0, 10000);
    server_stop(server);
}

/* ---- Provisioning ---------------------------------------------------------------------------- */

static void shares_follow_the_tenants_as_they_come_and_go(void)
{
    struct server *server = server_start(NULL);
    struct guest a = attach(NULL), b, c;

    GSCTL_OK("provision", "uniform");
    CHECK_EQUAL(strlen(output), 0);
    GSCTL_OK("provision", "uniform");
    CHECK_TEXT(output, "nothing has changed: this is set already");
    CHECK_EQUAL(granted(&a), a.sms);
    b = attach(NULL);
    CHECK_EQUAL(granted(&b), rounded(&a, (a.sms + 1) / 2));
    CHECK_WITHIN(10000, granted(&a) == rounded(&a, (a.sms + 1) / 2));
    c = attach(NULL);
    CHECK_EQUAL(granted(&c), rounded(&a, (a.sms + 2) / 3));
    CHECK_WITHIN(10000, granted(&a) == granted(&c) && granted(&b) == granted(&c));
    GSCTL_OK("provision", "half");
    CHECK_EQUAL(granted(&a), rounded(&a, (2 * a.sms + 2) / 3));
    CHECK_EQUAL(granted(&b), granted(&a));
    GSCTL_OK("set", a.id, "--weight", "2");
    GSCTL_OK("set", b.id, "--weight", "1");
    GSCTL_OK("provision", "weighted");
    CHECK_EQUAL(granted(&a), rounded(&a, (2 * a.sms + 3) / 4));
    CHECK_EQUAL(granted(&b), rounded(&a, (a.sms + 3) / 4));
    CHECK_EQUAL(granted(&c), granted(&b));
    CHECK_OK(gs_detach(b.session));
    CHECK_WITHIN(10000, granted(&a) == rounded(&a, (2 * a.sms + 2) / 3));
    GSCTL_OK("provision", "exact");
    CHECK_EQUAL(granted(&a), a.sms);
    CHECK_EQUAL(granted(&c), a.sms);
    CHECK_OK(gs_detach(c.session));
    CHECK_OK(gs_detach(a.session));
    server_stop(server);
}

/* ---- State ----------------------------------------------------------------------------------- */

static void settings_outlive_the_server(void)
{
    char folder[] = "/tmp/gshare-test-XXXXXX", path[64], broken[4096];
    const char *options[] = {"--state", path, NULL};
    struct server_options kept = {.arguments = options};
    struct server *server;
    struct guest guest, inside;
    unsigned half;
    int fd;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/state", folder);
    server = server_start(&kept);
    GSCTL_OK("set", "--default", "--percentage", "50", "--mem", "64M");
    guest = attach(NULL);
    half = rounded(&guest, (guest.sms + 1) / 2);
    GSCTL_OK("reserve", "kept", "--sms", number(guest.granule));
    GSCTL_OK("reserve", "gone", "--sms", number(guest.granule));
    GSCTL_OK("release", "gone");
    GSCTL_OK("provision", "half");
    CHECK_OK(gs_detach(guest.session));
    server_kill(server); /* what gsctl has been told is done is on the disk */

    kept.instance = server->instance;
    server = server_start(&kept);
    GSCTL_OK("get");
    CHECK_TEXT(output, "provision: half");
    CHECK_TEXT(output, "percentage 50, mem 64M");
    CHECK_TEXT(output, "reservation kept");
    CHECK(strstr(output, "gone") == NULL);
    GSCTL_OK("provision", "exact");
    guest = attach(NULL);
    inside = attach("kept");
    CHECK_EQUAL(granted(&guest), half);
    CHECK_EQUAL(granted(&inside), guest.granule);
    CHECK_OK(gs_detach(inside.session));
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);

    /* One that somebody has broken is not overwritten, and not half believed. */
    fd = open(path, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, "nonsense\n", 9) == 9);
    close(fd);
    const char *const again[] = {"bin/gshared",    "-f",       "--instance",
                                 server->instance, "--device", "soft",
                                 "--state",        path,       NULL};
    CHECK(program_run(again, broken, sizeof(broken)) != 0);
    CHECK_TEXT(broken, "line ");
    CHECK_TEXT(broken, "nonsense");
    unlink(path);
    CHECK(rmdir(folder) == 0);
}

/* ---- Who may --------------------------------------------------------------------------------- */

static gs_status ask(const struct control *control, struct ctl_header *request, uint16_t op,
                     size_t size)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_done_reply reply;

    return control_ask(control, request, op, size, &reply, sizeof(reply), test_deadline(10000),
                       message);
}

static void stranger_run(void *argument)
{
    const char *instance = argument;
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_set set = {.settings = {.fields = CTL_SMS, .sms = 2}};
    struct ctl_reserve reserve = {.name = "mine", .sms = 2};
    struct ctl_provision provision = {.mode = CTL_PROVISION_HALF};
    struct ctl_kill kill = {.target = CTL_KILL_SESSION, .id = 1};
    struct ctl_restart restart = {.force = 1};
    struct ctl_drain drain = {.device = -1, .on = 1};
    struct ctl_admin admin = {.cursor = 0}, get = {.cursor = 0};
    struct ctl_get_reply rows;
    struct control control;

    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    CHECK_EQUAL(control_open(&control, instance, message), GS_OK);
    CHECK_EQUAL(ask(&control, &set.h, CTL_SET, sizeof(set)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &reserve.h, CTL_RESERVE, sizeof(reserve)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &reserve.h, CTL_RELEASE, sizeof(reserve)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &provision.h, CTL_PROVISION, sizeof(provision)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &kill.h, CTL_KILL, sizeof(kill)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &restart.h, CTL_RESTART, sizeof(restart)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &drain.h, CTL_DRAIN, sizeof(drain)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &admin.h, CTL_QUIT, sizeof(admin)), GS_ERR_PERMISSION);
    CHECK_EQUAL(ask(&control, &admin.h, CTL_LOG, sizeof(admin)), GS_ERR_PERMISSION);
    /* Looking is free. */
    CHECK_EQUAL(control_ask(&control, &get.h, CTL_GET, sizeof(get), &rows, sizeof(rows),
                            test_deadline(10000), message),
                GS_OK);
    CHECK(rows.count > 0);
    control_close(&control);
}

/* Whom the server does not serve learns nothing of its tenants. */
static void unserved_run(void *argument)
{
    const char *instance = argument;
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_admin admin = {.cursor = 0};
    struct ctl_status_reply status;
    struct ctl_ps_reply rows;
    struct ctl_get_reply settings;
    struct control control;

    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    CHECK_EQUAL(control_open(&control, instance, message), GS_OK);
    CHECK_EQUAL(control_ask(&control, &admin.h, CTL_PS, sizeof(admin), &rows, sizeof(rows),
                            test_deadline(10000), message),
                GS_ERR_REFUSED);
    CHECK_TEXT(message, "--allow-users");
    CHECK_EQUAL(control_ask(&control, &admin.h, CTL_STATUS, sizeof(admin), &status, sizeof(status),
                            test_deadline(10000), message),
                GS_ERR_REFUSED);
    CHECK_EQUAL(control_ask(&control, &admin.h, CTL_GET, sizeof(admin), &settings, sizeof(settings),
                            test_deadline(10000), message),
                GS_ERR_REFUSED);
    control_close(&control);
}

static void who_is_not_served_may_not_look(void)
{
    static const char *const arguments[] = {"--allow-users", "65533", NULL};
    struct server *server;

    if (geteuid() != 0)
        test_skip("only root can become another user");
    server = server_start(&(struct server_options){.arguments = arguments});
    tenant_join(tenant_start(unserved_run, server->instance));
    GSCTL_OK("ps");
    server_stop(server);
}

static void looks_run(void *argument)
{
    (void)argument;
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    GSCTL_OK("status");
    CHECK(strstr(output, "\nlog ") == NULL);
    GSCTL_OK("status", "--json");
    CHECK_TEXT(output, "\"log\":\"\"");
    GSCTL_OK("servers");
    GSCTL_OK("ps");
    GSCTL_OK("get");
    GSCTL_OK("dump");
}

static void another_user_who_looks_leaves_no_warning(void)
{
    struct server *server = server_start(NULL);

    if (geteuid() != 0)
        test_skip("only root can become another user");
    tenant_join(tenant_start(looks_run, NULL));
    CHECK_EQUAL(server_log_lines(server, "event=denied"), 0);
    server_stop(server);
}

static void only_the_servers_owner_may_change_anything(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);

    if (geteuid() != 0)
        test_skip("only root can become another user");
    tenant_join(tenant_start(stranger_run, server->instance));
    CHECK_EQUAL(granted(&guest), guest.sms);
    /* Of nine, as many as a user has lines for. */
    CHECK_EQUAL(server_log_lines(server, "event=denied by="), 8);
    GSCTL_OK("get");
    CHECK(strstr(output, "mine") == NULL);
    CHECK_TEXT(output, "provision: exact");
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

/* Answers differ in where they have their text; a request of a wrong size is refused by all. */
static void every_kind_of_answer_tells_why_it_is_a_refusal(void)
{
    static const struct {
        uint16_t op;
        size_t reply;
    } kinds[] = {
        {CTL_ATTACH, sizeof(struct ctl_attach_reply)},
        {CTL_STATUS, sizeof(struct ctl_status_reply)},
        {CTL_PS, sizeof(struct ctl_ps_reply)},
        {CTL_QUIT, sizeof(struct ctl_quit_reply)},
        {CTL_SET_QOS, sizeof(struct ctl_done_reply)},
        {CTL_SET, sizeof(struct ctl_done_reply)},
        {CTL_GET, sizeof(struct ctl_get_reply)},
        {CTL_RESERVE, sizeof(struct ctl_done_reply)},
        {CTL_RELEASE, sizeof(struct ctl_done_reply)},
        {CTL_PROVISION, sizeof(struct ctl_done_reply)},
        {CTL_EXPLAIN, sizeof(struct ctl_explain_reply)},
        {CTL_TRACE, sizeof(struct ctl_trace_reply)},
        {CTL_LOG, sizeof(struct ctl_log_reply)},
        {CTL_DRAIN, sizeof(struct ctl_done_reply)},
    };
    struct server *server = server_start(NULL);
    char message[REQUEST_MESSAGE_MAX] = "", wanted[64];
    struct control control;

    CHECK_EQUAL(control_open(&control, server->instance, message), GS_OK);
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct ctl_header request;
        unsigned char reply[CTL_REPLY_MAX];

        CHECK_EQUAL(control_ask(&control, &request, kinds[i].op, sizeof(request), reply,
                                kinds[i].reply, test_deadline(10000), message),
                    GS_ERR_INVALID_VALUE);
        snprintf(wanted, sizeof(wanted), "24 bytes are no request %u", kinds[i].op);
        CHECK_TEXT(message, wanted);
    }
    control_close(&control);
    server_stop(server);
}

/* No line is wider than the narrowest terminal. */
static void help_fits(void)
{
    for (const char *line = output; *line; line += strcspn(line, "\n") + 1)
        CHECK(strcspn(line, "\n") <= 80);
}

static void each_command_has_a_help(void)
{
    static const char *const names[] = {
        "status",  "servers", "ps",        "info",      "top",     "dump",
        "metrics", "log",     "trace",     "quit",      "drain",   "kill",
        "set",     "trust",   "get",       "mps",       "explain", "restart-worker",
        "reserve", "release", "provision", "completion"};
    static const char *const server[] = {"bin/gshared", "--help", NULL};

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        GSCTL_OK(names[i], "--help");
        CHECK_TEXT(output, "Usage: gsctl");
        CHECK_TEXT(output, names[i]);
        help_fits();
    }
    GSCTL_OK("set", "--help");
    CHECK_TEXT(output, "--user-mem");
    /* A description goes on below its begin. */
    CHECK_TEXT(output, "all:\n                            all that was set here.");
    GSCTL_OK("--help");
    CHECK_TEXT(output, "provision");
    help_fits();
    CHECK_EQUAL(program_run(server, output, sizeof(output)), 0);
    CHECK_TEXT(output, "--metrics [ADDR:]PORT\n                         serve the figures");
    help_fits();
}

static void what_is_not_set_is_said(void)
{
    struct server *server = server_start(NULL);

    GSCTL_OK("get", "--user", "4711");
    CHECK_TEXT(output, "user 4711: nothing is set\n");
    GSCTL_OK("get", "--user", "4711", "--json");
    CHECK_TEXT(output, "{\"kind\":\"user\",\"user\":\"4711\",\"uid\":4711,\"set\":{}}");
    GSCTL_OK("get", "--default");
    CHECK_TEXT(output, "default: nothing is set\n");
    GSCTL_REFUSED("there is no session 99", "get", "99");
    server_stop(server);
}

static void each_size_is_in_json_what_it_is_in_text(void)
{
    struct server *server = server_start(NULL);

    GSCTL_OK("set", "--user", "4711", "--mem", "64M", "--user-mem", "1G", "--user-host-mem", "96M",
             "--user-driver-mem", "32M");
    GSCTL_OK("get", "--user", "4711");
    CHECK_TEXT(output, "mem 64M, user-mem 1G, user-host-mem 96M, user-driver-mem 32M");
    GSCTL_OK("get", "--user", "4711", "--json");
    CHECK_TEXT(output, "{\"mem\":67108864,\"user-mem\":1073741824,\"user-host-mem\":100663296,"
                       "\"user-driver-mem\":33554432}");
    server_stop(server);
}

static void without_partitions_nothing_is_shared_out(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_SMS=2", NULL};
    static const char none[] = "no partitions of SMs";
    struct server *server = server_start(&(struct server_options){.environment = environment});
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_detach(session));
    if (desc.sm_granularity) {
        server_stop(server);
        test_skip("the device has partitions");
    }
    GSCTL_REFUSED(none, "provision", "half");
    GSCTL_REFUSED(none, "set", "--default", "--percentage", "50");
    GSCTL_REFUSED(none, "reserve", "some", "--sms", "2");
    GSCTL_OK("provision", "exact");
    /* What takes nothing away needs none. */
    GSCTL_OK("set", "--default", "--percentage", "100", "--exclusive=no");
    GSCTL_REFUSED(none, "set", "--default", "--sms", number(desc.sm_count - 1));
    GSCTL_OK("set", "--default", "--sms", number(desc.sm_count));
    server_stop(server);
}

/* A class and a priority of one session stand in the place of its request, whichever is higher. */
static void an_operator_raises_a_session_and_lowers_it(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    gs_qos qos = GS_QOS_INIT;

    qos.cls = GS_CLASS_BEST_EFFORT;
    CHECK_OK(gs_set_qos(guest.session, &qos));
    GSCTL_OK("set", guest.id, "--class", "latency", "--priority", "2");
    CHECK(strstr(output, "nothing changes") == NULL);
    GSCTL_OK("get", guest.id);
    CHECK_TEXT(output, "class latency, priority 2");
    GSCTL_OK("explain", guest.id);
    CHECK_TEXT(output, "* set for this session: class latency\n");
    CHECK_TEXT(output, "* set for this session: priority 2\n");
    /* The program neither leaves nor climbs above it. */
    qos.priority = 1;
    CHECK_OK(gs_set_qos(guest.session, &qos));
    CHECK_OK(gs_get_qos(guest.session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_LATENCY);
    CHECK_EQUAL(qos.priority, 2);
    GSCTL_OK("set", guest.id, "--class", "normal", "--priority", "0");
    CHECK_OK(gs_get_qos(guest.session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_NORMAL);
    CHECK_EQUAL(qos.priority, 0);
    /* What holds for everybody caps it, and that is said. */
    GSCTL_OK("set", "--default", "--class", "normal");
    GSCTL_OK("set", guest.id, "--class", "latency");
    CHECK_TEXT(output, "nothing changes for session");
    GSCTL_OK("set", "--default", "--unset", "class");
    CHECK_OK(gs_get_qos(guest.session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_LATENCY);
    /* Taken back, its own request counts again. */
    GSCTL_OK("set", guest.id, "--unset", "all");
    qos = (gs_qos)GS_QOS_INIT;
    CHECK_OK(gs_get_qos(guest.session, &qos));
    CHECK_EQUAL(qos.cls, GS_CLASS_BEST_EFFORT);
    CHECK_EQUAL(qos.priority, 1);
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

/* Nobody new is admitted, those that are there go on, and a supervisor that takes another's place
 * keeps to it. */
static void a_drained_server_admits_nobody_new(void)
{
    struct server *server = server_start(NULL);
    struct guest guest = attach(NULL);
    const pid_t killed = server_supervisor(server);
    gs_session late;
    gs_devptr memory;

    GSCTL_OK("drain");
    CHECK_TEXT(output, "1 is still there");
    GSCTL_OK("drain");
    CHECK_TEXT(output, "nothing has changed");
    GSCTL_OK("status");
    CHECK_TEXT(output, "ready, drained, worker");
    GSCTL_OK("status", "--json");
    CHECK_TEXT(output, "\"drained\":1");
    CHECK_STATUS(gs_attach(NULL, &late), GS_ERR_REFUSED);
    CHECK_TEXT(gs_last_error_message(), "device 0 is drained: it takes new tenants after 'gsctl");
    CHECK_OK(gs_malloc(guest.session, 4096, &memory));
    CHECK_EQUAL(kill(killed, SIGKILL), 0);
    CHECK_WITHIN(10000, server_supervisor(server) != killed && server_supervisor(server));
    CHECK_STATUS(gs_attach(NULL, &late), GS_ERR_REFUSED);
    GSCTL_OK("drain", "--no", "--json");
    CHECK_TEXT(output, "{\"drained\":0,\"tenants\":1,\"remark\":\"\"}");
    CHECK_OK(gs_attach(NULL, &late));
    CHECK_OK(gs_detach(late));
    CHECK_OK(gs_detach(guest.session));
    server_stop(server);
}

static void a_tenant_goes_to_a_device_that_is_not_drained(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_DEVICES=2", NULL};
    static const char *const arguments[] = {"--devices", "2", NULL};
    struct server *server = server_start(&(struct server_options){
        .device = "soft", .environment = environment, .arguments = arguments});
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session[3];

    GSCTL_OK("drain", "--device", "0");
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(gs_attach(NULL, &session[i]));
        CHECK_OK(gs_session_info(session[i], &desc));
        CHECK_EQUAL(desc.device, 1);
    }
    params.device = 0;
    CHECK_STATUS(gs_attach(&params, &session[0]), GS_ERR_REFUSED);
    GSCTL_REFUSED("device 2: the server has 2", "drain", "--device", "2");
    GSCTL_OK("drain", "--device", "0", "--no");
    CHECK_OK(gs_attach(&params, &session[0]));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(a_drained_server_admits_nobody_new),
    TEST(a_tenant_goes_to_a_device_that_is_not_drained),
    TEST(a_session_is_limited_while_it_runs),
    TEST(an_operator_raises_a_session_and_lowers_it),
    TEST(the_tightest_of_default_user_and_session_holds),
    TEST(exclusive_sms_leave_everybody_elses),
    TEST(a_ban_takes_exclusive_sms_that_a_tenant_chose),
    TEST(what_cannot_be_is_refused_with_the_limit),
    TEST(a_quota_is_live_and_what_is_held_above_it_stays),
    TEST(a_reservation_is_for_those_who_attach_to_it),
    TEST(who_reserves_the_last_sms_is_told_what_that_means),
    TEST(settings_and_reservations_outlive_the_worker),
    TEST(shares_follow_the_tenants_as_they_come_and_go),
    TEST(settings_outlive_the_server),
    TEST(another_user_who_looks_leaves_no_warning),
    TEST(only_the_servers_owner_may_change_anything),
    TEST(who_is_not_served_may_not_look),
    TEST(every_kind_of_answer_tells_why_it_is_a_refusal),
    TEST(each_command_has_a_help),
    TEST(what_is_not_set_is_said),
    TEST(each_size_is_in_json_what_it_is_in_text),
    TEST(without_partitions_nothing_is_shared_out),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
