/* test_hostile_launch.c - launches with a quality of service of their own, as no library sends
 * them: what is wrong ends their session with a reason, and nobody gets more than was granted. */
#include <stdio.h>
#include <string.h>

#include "bystander.h"
#include "common/ring.h"
#include "common/seg_grant.h"
#include "harness/harness.h"
#include "raw_client.h"
#include "where.h"

#define PARAM_BYTES 12u

/* A launch of the kernel that does nothing, with room for all that may follow. */
struct record {
    struct rec_launch launch;
    struct wire_qos qos;
    uint64_t time;
    struct wire_cluster cluster;
};

static void record_push(struct raw_client *raw, const struct record *r)
{
    unsigned char bytes[REC_SIZE_MAX] = {0};
    uint16_t flags = r->launch.h.flags;

    memcpy(bytes, &r->launch, sizeof(r->launch));
    if (flags & REC_LAUNCH_QOS)
        memcpy(bytes + launch_record_qos(PARAM_BYTES), &r->qos, sizeof(r->qos));
    if (flags & REC_LAUNCH_TIME)
        memcpy(bytes + launch_record_time(flags, PARAM_BYTES), &r->time, sizeof(r->time));
    if (flags & REC_LAUNCH_CLUSTER)
        memcpy(bytes + launch_record_cluster(flags, PARAM_BYTES), &r->cluster, sizeof(r->cluster));
    raw_push(raw, 0, bytes, launch_record_size(flags, PARAM_BYTES));
}

static struct record record_good(uint32_t kernel)
{
    struct record r = {.launch = {.kernel = kernel,
                                  .param_bytes = PARAM_BYTES,
                                  .grid = {1, 1, 1},
                                  .block = {1, 1, 1}},
                       .qos = {.affinity_type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = 1},
                       .time = clock_ns()};

    r.launch.h = (struct rec_header){.op = REC_LAUNCH,
                                     .flags = REC_LAUNCH_QOS | REC_LAUNCH_TIME,
                                     .size = launch_record_size(3, PARAM_BYTES)};
    return r;
}

/* A session in which a good launch has passed. */
static struct record raw_begin(struct raw_client *raw, const char *instance)
{
    struct raw_belongings b;
    struct record r;

    CHECK_EQUAL(raw_attach(raw, instance), GS_OK);
    raw_belongings_get(raw, &b);
    r = record_good(b.kernel);
    if (!raw->info.sm_granularity)
        r.qos.affinity_type = GS_EXEC_AFFINITY_NONE;
    record_push(raw, &r);
    CHECK_WITHIN(10000, atomic_load(&raw->complete->position[0]) >= r.launch.h.size);
    CHECK(raw_open(raw));
    return r;
}

/* ---- One bad field each ---- */

static const char *const fields[] = {
    "class", "priority", "weight",    "exclusive", "deadline", "type", "no SM",    "percentage",
    "101%",  "no mask",  "half mask", "foreign",   "flags",    "size", "reserved", "no time"};

/* The clusters of launches of 2 blocks: of no block, beyond the grid, no divisor, too many. */
static const struct wire_cluster bad_clusters[] = {{{0, 0, 0}, 0}, {{1, 1, 0}, 0},  {{4, 1, 1}, 0},
                                                   {{3, 1, 1}, 0}, {{2, 16, 1}, 0}, {{0, 1, 1}, 0}};

static bool field_corrupt(struct record *r, unsigned field, const struct seg_info *info)
{
    memset(&r->qos, 0, sizeof(r->qos));
    switch (field) {
    case 0:
        r->qos.cls = 3;
        return true;
    case 1:
        r->qos.priority = -1;
        return true;
    case 2:
        r->qos.weight = 1;
        return true;
    case 3:
        r->qos.exclusive = 1;
        return true;
    case 4:
        r->qos.deadline_ns = UINT64_MAX;
        return true;
    case 5:
        r->qos.affinity_type = 4;
        return true;
    case 6:
        r->qos.affinity_type = GS_EXEC_AFFINITY_SM_COUNT;
        return true;
    case 7:
    case 8:
        r->qos.affinity_type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE;
        r->qos.percentage = field == 7 ? 0 : 101;
        return true;
    case 9:
    case 10:
    case 11:
        r->qos.affinity_type = GS_EXEC_AFFINITY_SM_MASK;
        if (field == 10)
            r->qos.sm_mask[0] = 1;
        if (field == 11)
            r->qos.sm_mask[info->sm_count / 64] |= UINT64_C(1) << info->sm_count % 64;
        return field != 10 || info->sm_granularity != 1;
    case 12:
        r->launch.h.flags |= 0x8000;
        return true;
    case 13:
        r->launch.h.size += REC_ALIGN;
        return true;
    case 14:
        r->qos.environment = 1;
        return true;
    default:
        r->launch.h.flags = REC_LAUNCH_QOS;
        r->launch.h.size = launch_record_size(REC_LAUNCH_QOS, PARAM_BYTES);
        r->qos.deadline_ns = 1000;
        return true;
    }
}

static void each_bad_field_ends_the_session_with_a_reason(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *others = bystanders_start(2);

    for (unsigned field = 0; field < ARRAY_SIZE(fields); field++) {
        struct raw_client raw;
        struct record r = raw_begin(&raw, server->instance);

        if (field_corrupt(&r, field, &raw.info)) {
            record_push(&raw, &r);
            for (uint64_t deadline = test_deadline(5000); raw_open(&raw); test_pause())
                if (clock_ns() > deadline)
                    test_fail(__FILE__, __LINE__, "a launch with a bad %s is no fault",
                              fields[field]);
            CHECK_EQUAL(atomic_load(&raw.server->state), SEG_FAULTED);
            CHECK_EQUAL(raw.server->fault.kind, GS_FAULT_REJECTED);
            CHECK(raw.server->fault.message[0] != '\0');
        }
        raw_detach(&raw);
    }
    bystanders_stop(others);
    server_stop(server);
}

static void clusters_that_do_not_divide_the_grid_end_the_session(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *others = bystanders_start(2);

    for (unsigned i = 0; i < ARRAY_SIZE(bad_clusters); i++) {
        struct raw_client raw;
        struct record r = raw_begin(&raw, server->instance);

        r.launch.grid[0] = 2;
        r.launch.grid[1] = 16;
        r.launch.h.flags = REC_LAUNCH_CLUSTER;
        r.launch.h.size = launch_record_size(REC_LAUNCH_CLUSTER, PARAM_BYTES);
        r.cluster = bad_clusters[i];
        record_push(&raw, &r);
        CHECK_WITHIN(5000, !raw_open(&raw));
        CHECK_EQUAL(raw.server->fault.kind, GS_FAULT_REJECTED);
        CHECK(strstr(raw.server->fault.message, "clusters") != NULL);
        raw_detach(&raw);
    }
    bystanders_stop(others);
    server_stop(server);
}

/* ---- More than was granted ---- */

/* The library would have refused it; here it was sent all the same, as by a client whose grant has
 * just been lowered: it runs, within the grant. */
static void what_goes_beyond_the_grant_is_cut_to_it(void)
{
    struct server *server = server_start(NULL);
    struct raw_client raw;
    struct record r = raw_begin(&raw, server->instance);
    struct seg_grant grant = {0};
    uint32_t wanted = raw.info.sm_granularity;

    if (!wanted) {
        raw_detach(&raw);
        server_stop(server);
        test_skip("the device has no partitions");
    }
    struct ctl_set_qos request = {.cookie = raw.grant.cookie,
                                  .qos = {.cls = GS_CLASS_BEST_EFFORT,
                                          .affinity_type = GS_EXEC_AFFINITY_SM_COUNT,
                                          .sm_count = wanted}};
    struct ctl_done_reply reply;
    char message[REQUEST_MESSAGE_MAX];
    CHECK_OK(control_ask(&raw.control, &request.h, CTL_SET_QOS, sizeof(request), &reply,
                         sizeof(reply), test_deadline(20000), message));
    while (!seg_grant_read(&raw.server->grant, &grant))
        cpu_relax();
    CHECK_EQUAL(grant.sm_count, wanted);

    uint64_t end = raw.tail[0];
    for (uint32_t id = 1; id <= 3; id++) {
        const struct seg_report *report = &raw.server->report[id];
        memset(&r.qos, 0, sizeof(r.qos));
        r.qos.cls = GS_CLASS_LATENCY;
        r.qos.priority = INT32_MAX;
        r.qos.affinity_type = id;
        r.qos.sm_count = r.qos.percentage = id == GS_EXEC_AFFINITY_SM_COUNT ? UINT32_MAX : 100;
        /* All that it has not: not one of its SMs. */
        for (uint32_t sm = 0; sm < raw.info.sm_count; sm++)
            r.qos.sm_mask[sm / 64] |= ~grant.sm_mask[sm / 64] & UINT64_C(1) << sm % 64;
        r.launch.report = id;
        record_push(&raw, &r);
        end += r.launch.h.size;
        CHECK_WITHIN(10000, atomic_load(&report->id) == id);
        CHECK(raw_open(&raw));
        CHECK_EQUAL(report->sm_count, wanted);
        CHECK_EQUAL(report->partition, grant.partition);
    }
    CHECK_WITHIN(10000, atomic_load(&raw.complete->position[0]) >= end);
    raw_detach(&raw);
    server_stop(server);
}

/* ---- Two records in one turn ---- */

/* A kernel's first launch is measured by itself, so its end is told at once; the wait behind it
 * stalls, and leaves the turn with nothing more to tell. */
static void a_first_launch_and_a_wait_that_stalls_come_in_one_turn(void)
{
    struct server *server = server_start(NULL);
    pid_t worker = server_worker_pid(server);

    for (unsigned round = 0; round < 5; round++) {
        struct raw_client raw;
        struct raw_belongings b;
        unsigned char both[2 * REC_SIZE_MAX] = {0};
        uint32_t size = launch_record_size(0, PARAM_BYTES);
        struct rec_launch launch = {.h = {.op = REC_LAUNCH, .size = (uint16_t)size},
                                    .param_bytes = PARAM_BYTES,
                                    .grid = {1, 1, 1},
                                    .block = {1, 1, 1}};
        struct rec_wait wait = {
            .h = {.op = REC_WAIT, .size = sizeof(wait)}, .stream = 1, .position = size};

        CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
        raw_belongings_get(&raw, &b);
        launch.kernel = b.kernel;
        memcpy(both, &launch, sizeof(launch));
        memcpy(both + size, &wait, sizeof(wait));
        raw_push(&raw, 0, both, size + sizeof(wait)); /* one tail for both */
        CHECK_WITHIN(10000, atomic_load(&raw.complete->position[0]) >= size);
        CHECK(atomic_load(&raw.complete->position[0]) == size);

        memset(both, 0, sizeof(both));
        memcpy(both, &launch, sizeof(launch));
        raw_push(&raw, 1, both, size); /* what the wait is for */
        raw_push(&raw, 0, both, size);
        CHECK_WITHIN(10000, atomic_load(&raw.complete->position[0]) == raw.tail[0]);
        CHECK(raw_open(&raw));
        raw_detach(&raw);
    }
    CHECK_EQUAL(server_worker_pid(server), worker);
    server_stop(server);
}

/* ---- Random ones ---- */

static uint64_t below(uint64_t limit)
{
    return test_random() % limit;
}

static void record_scramble(struct record *r, const struct seg_info *info)
{
    unsigned char *bytes = (unsigned char *)&r->qos;

    memset(&r->qos, 0, sizeof(r->qos));
    r->qos.cls = (uint32_t)below(3);
    r->qos.priority = (int32_t)below(8);
    r->qos.affinity_type = (uint32_t)below(4);
    r->qos.sm_count = (uint32_t)below(2 * info->sm_count) + 1;
    r->qos.percentage = (uint32_t)below(100) + 1;
    for (uint32_t sm = 0; sm < info->sm_count; sm += 2)
        r->qos.sm_mask[sm / 64] |= below(2) * (UINT64_C(3) << sm % 64);
    r->qos.deadline_ns = below(3) ? 0 : below(1000000);
    r->time = below(2) ? clock_ns() : test_random();
    if (below(8) == 0)
        bytes[below(sizeof(r->qos))] = (unsigned char)test_random();
}

static void random_wishes_of_launches_harm_nobody(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *others = bystanders_start(2);
    pid_t worker = server_worker_pid(server);

    for (unsigned session = 0; session < 40; session++) {
        struct raw_client raw;
        struct record r = raw_begin(&raw, server->instance);

        for (unsigned i = 0; i < 40 && raw_open(&raw); i++) {
            record_scramble(&r, &raw.info);
            record_push(&raw, &r);
        }
        if (session % 3)
            raw_detach(&raw);
        else
            raw_drop(&raw);
    }
    bystanders_stop(others);
    CHECK_EQUAL(server_worker_pid(server), worker);
    server_wait_tenants(server, 0, 10000);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* ---- Many places at once --------------------------------------------------------------------- */

static gs_qos place_number(unsigned number)
{
    struct sm_mask mask = {{0}};

    for (unsigned i = 0; i < 8; i++) {
        if (number >> i & 1)
            mask = sm_mask_or(mask, where_group(i));
    }
    return where_mask(&mask);
}

/* None of them can be made while the kernel runs: as many as there can be at all would be waited
 * for. */
static void launches_that_wait_for_their_places_leave_room_for_others(void)
{
    enum { SESSIONS = 4, STREAMS = 45 }; /* together more than a worker's PARTITIONS_MAX */
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_session sessions[SESSIONS], session;
    uint32_t value = 0;
    struct where where[SESSIONS];
    gs_stream stream, spare;
    gs_devptr word, state;
    gs_qos qos;

    for (unsigned i = 0; i < SESSIONS; i++) {
        CHECK_OK(gs_attach(NULL, &sessions[i]));
        where_open(&where[i], sessions[i]);
    }
    if (!where[0].granularity || where[0].sms / where[0].granularity < 8) {
        for (unsigned i = 0; i < SESSIONS; i++)
            CHECK_OK(gs_detach(sessions[i]));
        server_stop(server);
        test_skip("the device has too few partitions");
    }
    where_find_groups(&where[0]);
    CHECK_OK(gs_stream_create(sessions[0], NULL, &spare));
    CHECK_OK(gs_malloc(sessions[0], sizeof(uint32_t), &word));
    CHECK_OK(gs_memset(sessions[0], word, 0, sizeof(uint32_t)));
    CHECK_OK(gs_launch(NULL, where[0].hold, &config, (void *[]){&word}));
    config.qos = &qos;
    for (unsigned i = 0; i < SESSIONS; i++) {
        CHECK_OK(gs_malloc(sessions[i], sizeof(uint32_t), &state));
        for (unsigned n = 0; n < STREAMS; n++) {
            qos = place_number(1 + i * STREAMS + n);
            CHECK_OK(gs_stream_create(sessions[i], NULL, &stream));
            CHECK_OK(gs_launch(stream, where[i].mix, &config, (void *[]){&state, &value}));
        }
    }
    params.qos = &qos;
    params.timeout_ms = 200;
    for (unsigned i = 0; i < 5; i++) {
        qos = place_number(200 + i);
        CHECK_STATUS(gs_attach(&params, &session), GS_ERR_TIMEOUT);
    }
    CHECK_OK(gs_memset_async(sessions[0], word, 2, 1, spare));
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_sync(sessions[i]));
    params.timeout_ms = 0;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_detach(session));
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_OK(gs_detach(sessions[i]));
    server_stop(server);
}

/* ---- Records that are nothing ---------------------------------------------------------------- */

struct flood {
    struct gate ready;
    _Atomic uint32_t stop;
    const char *instance;
};

/* Its ring is full of pads, always: they cost the device nothing, so it is always its turn. */
static void pads_run(void *argument)
{
    struct flood *flood = argument;
    struct raw_client raw;
    uint64_t activity = 1;

    CHECK_EQUAL(raw_attach(&raw, flood->instance), GS_OK);
    for (uint32_t at = 0; at < SEG_RING_BYTES; at += REC_ALIGN) {
        const struct rec_header pad = {.op = REC_PAD, .size = REC_ALIGN};
        memcpy(raw.segment + SEG_OFF_RINGS + at, &pad, sizeof(pad));
    }
    gate_pass(&flood->ready);
    while (!atomic_load(&flood->stop)) {
        atomic_store(&raw.client->tail[0],
                     atomic_load(&raw.complete->position[0]) + SEG_RING_BYTES);
        atomic_fetch_or(&raw.client->activity, activity);
        if (atomic_exchange(&raw.server->need_bell, 0))
            raw_bell(&raw);
    }
    CHECK(raw_open(&raw));
    raw_drop(&raw);
}

/* It always has more than fits the device: with it, two wait. */
static void saturate_run(void *argument)
{
    struct flood *flood = argument;
    uint64_t nanoseconds = 20000;
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    gate_pass(&flood->ready);
    while (!atomic_load(&flood->stop)) {
        for (unsigned i = 0; i < 200; i++)
            CHECK_OK(kernels_launch(NULL, spin, 64, 256, (void *[]){&nanoseconds}));
        CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_detach(session));
}

static void a_ring_full_of_pads_keeps_the_server_from_nobody(void)
{
    struct server *server = server_start(NULL);
    struct flood *flood = shared_alloc(sizeof(*flood));
    size_t free_bytes, total_bytes;
    gs_session session;
    pid_t pid[2];

    flood->instance = server->instance;
    CHECK_OK(server_attach(server, &session));
    pid[0] = tenant_start(saturate_run, flood);
    gate_wait(&flood->ready, 1);
    pid[1] = tenant_start(pads_run, flood);
    gate_wait(&flood->ready, 2);
    for (unsigned i = 0; i < 100; i++)
        CHECK_OK(gs_mem_info(session, &free_bytes, &total_bytes));
    atomic_store(&flood->stop, 1);
    for (unsigned i = 0; i < 2; i++)
        tenant_join(pid[i]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- A kernel that does not end -------------------------------------------------------------- */

struct crowd {
    struct gate ready;
    _Atomic uint32_t stop;
    _Atomic uint32_t rounds[2];
};
struct member {
    struct crowd *crowd;
    unsigned index;
};

/* Its stream always has the next kernels before the last ones have ended. */
static void member_run(void *argument)
{
    struct member *member = argument;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    uint64_t nanoseconds = 20000;
    gs_event event[2];
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_event_create(session, &event[i]));
    gate_pass(&member->crowd->ready);
    gate_wait(&member->crowd->ready, 3);
    for (unsigned round = 0; !atomic_load(&member->crowd->stop); round++) {
        for (unsigned i = 0; i < 16; i++)
            CHECK_OK(kernels_launch(NULL, spin, desc.sm_count / 2, 128, (void *[]){&nanoseconds}));
        CHECK_OK(gs_event_record(event[round % 2], NULL));
        if (round > 0) {
            CHECK_OK(gs_event_sync(event[(round + 1) % 2]));
            atomic_fetch_add(&member->crowd->rounds[member->index], 1);
        }
    }
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
}

/* It counts as if it filled the device, and waits for what another stream of its session brings. */
static void a_kernel_that_does_not_end_holds_up_nobody(void)
{
    struct server *server = server_start(NULL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    struct member member[2] = {{crowd, 0}, {crowd, 1}};
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_stream other;
    gs_devptr flag;
    pid_t pid[2];

    for (unsigned i = 0; i < 2; i++)
        pid[i] = tenant_start(member_run, &member[i]);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    gs_kernel wait = kernels_get(kernels_load(session), "spin_until");
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &flag));
    CHECK_OK(gs_memset(session, flag, 0, sizeof(uint32_t)));
    CHECK_OK(gs_stream_create(session, NULL, &other));
    gate_wait(&crowd->ready, 2);
    CHECK_OK(kernels_launch(NULL, wait, desc.sm_count, 1024, (void *[]){&flag}));
    gate_pass(&crowd->ready);
    for (unsigned i = 0; i < 2; i++)
        CHECK_WITHIN(50000, atomic_load(&crowd->rounds[i]) >= 100);
    CHECK_OK(gs_memset_async(session, flag, 1, sizeof(uint32_t), other));
    CHECK_OK(gs_sync(session));
    atomic_store(&crowd->stop, 1);
    for (unsigned i = 0; i < 2; i++)
        tenant_join(pid[i]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Reserved SMs ---------------------------------------------------------------------------- */

struct latency {
    gs_session session;
    gs_kernel wait;
    gs_devptr flag;
};

static void latency_launch(const struct latency *latency, uint32_t flag)
{
    gs_devptr address = latency->flag;

    CHECK_OK(gs_memcpy_htod(latency->session, latency->flag, &flag, sizeof(flag)));
    CHECK_OK(kernels_launch(NULL, latency->wait, 1, 1, (void *[]){&address}));
}

/* Where four blocks an SM of the device run, no two on one at the same time. */
static void spread_launch(struct where *where, const gs_qos *qos)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(4 * where->sms, 1);
    uint32_t records = SM_MASK_SMS + 1, together = where->sms / 2;

    config.dynamic_smem = where->smem;
    config.qos = qos;
    CHECK_OK(
        gs_memset_async(where->session, where->words, 0, (records + 1) * sizeof(uint32_t), NULL));
    CHECK_OK(
        gs_launch(NULL, where->where, &config, (void *[]){&where->words, &records, &together}));
}

static struct sm_mask spread_read(const struct where *where)
{
    struct sm_mask used = {{0}};
    uint32_t words[SM_MASK_SMS];

    CHECK_OK(gs_memcpy_dtoh(where->session, words, where->words, sizeof(words)));
    for (uint32_t sm = 0; sm < where->sms; sm++) {
        if (words[sm])
            sm_mask_set(&used, sm);
    }
    return used;
}

enum spread { PLAIN, WITH_ITS_OWN_PLACE, BY_GRAPH, SPREADS };

static struct sm_mask spread(struct where *where, enum spread how, const gs_qos *own,
                             gs_graph graph)
{
    if (how == BY_GRAPH)
        CHECK_OK(gs_graph_launch(graph, NULL));
    else
        spread_launch(where, how == PLAIN ? NULL : own);
    return spread_read(where);
}

/* A latency session and one of best effort; false: the device has no partitions. */
struct scene {
    struct server *server;
    struct latency latency;
    gs_stream other; /* of the latency session */
    struct where back;
};

static bool scene_begin(struct scene *scene)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    scene->server = server_start(NULL);
    params.qos = &qos;
    qos.cls = GS_CLASS_LATENCY;
    CHECK_OK(gs_attach(&params, &scene->latency.session));
    scene->latency.wait = kernels_get(kernels_load(scene->latency.session), "spin_until");
    CHECK_OK(gs_malloc(scene->latency.session, sizeof(uint32_t), &scene->latency.flag));
    CHECK_OK(gs_stream_create(scene->latency.session, NULL, &scene->other));
    qos.cls = GS_CLASS_BEST_EFFORT;
    CHECK_OK(gs_attach(&params, &session));
    where_open(&scene->back, session);
    if (scene->back.granularity)
        where_find_groups(&scene->back);
    return scene->back.granularity > 0;
}

/* A kernel that waits for its flag may end. */
static void latency_release(const struct scene *scene)
{
    CHECK_OK(gs_memset_async(scene->latency.session, scene->latency.flag, 1, sizeof(uint32_t),
                             scene->other));
}

static void scene_end(const struct scene *scene)
{
    CHECK_OK(gs_detach(scene->latency.session));
    CHECK_OK(gs_detach(scene->back.session));
    server_stop(scene->server);
}

/* Best effort leaves so many SMs to latency work. */
static void reserve_set(unsigned sms)
{
    char count[16], output[1024];

    snprintf(count, sizeof(count), "%u", sms);
    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "set", "--device", "0",
                                                  "--latency-sms", count, NULL},
                            output, sizeof(output)),
                0);
}

static void best_effort_keeps_off_reserved_sms_whatever_it_launches(void)
{
    struct sm_mask all, used, reserved, asked;
    struct scene scene;
    gs_qos own;
    gs_graph graph;
    unsigned group = 0;

    if (!scene_begin(&scene)) {
        scene_end(&scene);
        test_skip("the device has no partitions");
    }
    all = sm_mask_first(scene.back.sms);
    reserve_set(scene.back.granularity); /* of one group, a few are all */
    /* Partitions are made at quiet moments: the latency session's kernels come and go meanwhile.
     * One launch may miss SMs that it could use, so what several together leave is what is kept
     * free. */
    do {
        used = (struct sm_mask){{0}};
        for (unsigned i = 0; i < 8; i++) {
            latency_launch(&scene.latency, 1);
            const struct sm_mask some = spread(&scene.back, PLAIN, NULL, NULL);
            used = sm_mask_or(used, some);
        }
        reserved = sm_mask_minus(all, used);
    } while (sm_mask_count(&reserved) != scene.back.granularity); /* the test's deadline ends it */
    while (asked = where_group(group), sm_mask_meets(&asked, &reserved))
        group++;
    asked = sm_mask_minus(all, asked);
    own = where_mask(&asked);
    own.cls = GS_CLASS_BEST_EFFORT;
    CHECK_OK(gs_graph_begin(scene.back.session, NULL));
    spread_launch(&scene.back, NULL);
    CHECK_OK(gs_graph_end(scene.back.session, NULL, &graph));
    for (enum spread how = PLAIN; how < SPREADS; how++) {
        do {
            latency_launch(&scene.latency, 1);
            used = spread(&scene.back, how, &own, graph);
        } while (sm_mask_meets(&used, &reserved)); /* the same */
    }
    CHECK_OK(gs_sync(scene.latency.session));
    /* All is made: none goes there as long as a kernel of the latency session runs. */
    latency_launch(&scene.latency, 0);
    do
        used = spread(&scene.back, PLAIN, NULL, NULL);
    while (sm_mask_meets(&used, &reserved)); /* until the worker has seen it */
    for (unsigned i = 0; i < 5 * SPREADS; i++) {
        used = spread(&scene.back, i % SPREADS, &own, graph);
        CHECK(!sm_mask_meets(&used, &reserved));
    }
    latency_release(&scene);
    scene_end(&scene);
}

static void between_requests_best_effort_leaves_a_few_of_them(void)
{
    struct sm_mask all, left, reserved = {{0}}, few = {{0}};
    struct scene scene;

    if (!scene_begin(&scene)) {
        scene_end(&scene);
        test_skip("the device has no partitions");
    }
    const unsigned granularity = scene.back.granularity;
    all = sm_mask_first(scene.back.sms);
    reserve_set(4 * granularity);
    /* Requests at times that nobody can expect. All is left while one is there, which the first
     * launch may meet; how soon the second one comes after it is not told. */
    for (unsigned round = 0; sm_mask_empty(&few) || sm_mask_empty(&reserved); round++) {
        latency_launch(&scene.latency, 1);
        for (unsigned i = 0; i < 1u << round % 8; i++) {
            left = sm_mask_minus(all, spread(&scene.back, PLAIN, NULL, NULL));
            if (sm_mask_count(&left) == 4 * granularity)
                reserved = left;
            else if (sm_mask_count(&left) == granularity)
                few = left;
            CHECK_OK(gs_sync(scene.latency.session));
        }
    } /* the test's deadline ends it */
    CHECK(sm_mask_within(&few, &reserved));
    scene_end(&scene);
}

/* Each of them would have a place of its own beside the latency session: more than there can be. */
static void places_of_best_effort_leave_room_for_grants(void)
{
    enum { OTHERS = 127 };
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session others[OTHERS], session;
    gs_kernel chain[OTHERS];
    gs_devptr data[OTHERS];
    uint32_t n = 1, rounds = 1, seed = 1;
    struct latency latency;
    struct where where;
    gs_stream spare;
    gs_qos qos = GS_QOS_INIT;

    params.qos = &qos;
    qos.cls = GS_CLASS_LATENCY;
    CHECK_OK(gs_attach(&params, &latency.session));
    where_open(&where, latency.session);
    if (!where.granularity || where.sms / where.granularity < 8) {
        CHECK_OK(gs_detach(latency.session));
        server_stop(server);
        test_skip("the device has too few partitions");
    }
    where_find_groups(&where);
    latency.wait = kernels_get(kernels_load(latency.session), "spin_until");
    CHECK_OK(gs_malloc(latency.session, sizeof(uint32_t), &latency.flag));
    CHECK_OK(gs_stream_create(latency.session, NULL, &spare));
    /* All have the eighth group: the last of the software device, which is reserved. */
    for (unsigned i = 0; i < OTHERS; i++) {
        qos = place_number(129 + i);
        qos.cls = GS_CLASS_BEST_EFFORT;
        CHECK_OK(gs_attach(&params, &others[i]));
        chain[i] = kernels_get(kernels_load(others[i]), "chain");
        CHECK_OK(gs_malloc(others[i], sizeof(uint32_t), &data[i]));
    }
    latency_launch(&latency, 0);
    for (unsigned i = 0; i < OTHERS; i++) {
        CHECK_OK(kernels_launch(NULL, chain[i], 1, 1, (void *[]){&data[i], &n, &rounds, &seed}));
        CHECK_OK(gs_sync(others[i]));
    }
    qos = place_number(128);
    params.timeout_ms = 200;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_TIMEOUT); /* and not that there is no room */
    CHECK_OK(gs_memset_async(latency.session, latency.flag, 1, sizeof(uint32_t), spare));
    params.timeout_ms = 0;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_detach(session));
    for (unsigned i = 0; i < OTHERS; i++)
        CHECK_OK(gs_detach(others[i]));
    CHECK_OK(gs_detach(latency.session));
    server_stop(server);
}

/* The tenant can write the words that tell which of its work is complete. */
static void who_says_that_it_never_ends_keeps_nobody_from_loading(void)
{
    struct server *server = server_start(NULL);
    struct raw_client raw;
    struct raw_belongings b;
    gs_session session;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    raw_belongings_get(&raw, &b);
    struct record record = {.launch = {.h = {.op = REC_LAUNCH},
                                       .kernel = b.kernel,
                                       .param_bytes = PARAM_BYTES,
                                       .grid = {1, 1, 1},
                                       .block = {1, 1, 1}}};
    record.launch.h.size = launch_record_size(0, PARAM_BYTES);
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 3; i++) {
        record_push(&raw, &record);
        CHECK_WITHIN(10000, atomic_load(&raw.complete->position[0]) == raw.tail[0]);
        atomic_store(&raw.complete->position[0], 0);
        const uint64_t began = clock_ns();
        kernels_load(session);
        CHECK(clock_ns() - began < 5000000000u);
    }
    CHECK(raw_open(&raw));
    raw_detach(&raw);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(each_bad_field_ends_the_session_with_a_reason),
    TEST(clusters_that_do_not_divide_the_grid_end_the_session),
    TEST(what_goes_beyond_the_grant_is_cut_to_it),
    TEST(a_first_launch_and_a_wait_that_stalls_come_in_one_turn),
    TEST(random_wishes_of_launches_harm_nobody),
    TEST(launches_that_wait_for_their_places_leave_room_for_others),
    TEST(a_ring_full_of_pads_keeps_the_server_from_nobody),
    TEST_WITHIN(a_kernel_that_does_not_end_holds_up_nobody, 120),
    TEST(best_effort_keeps_off_reserved_sms_whatever_it_launches),
    TEST(places_of_best_effort_leave_room_for_grants),
    TEST(between_requests_best_effort_leaves_a_few_of_them),
    TEST(who_says_that_it_never_ends_keeps_nobody_from_loading),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
