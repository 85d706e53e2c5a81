/*
 * test_hostile.c - a client that scribbles over everything it can reach, while three others compute
 * and check every result: they must not notice, and neither server nor worker may end.
 *
 * What it does is drawn from the test's random numbers; a failing test prints their seed.
 * GSHARE_TEST_SOAK multiplies the rounds (and needs a deadline to match: GSHARE_TEST_TIME_SCALE).
 *
 * It launches no kernel that takes a pointer: kernels share one address space, and it is not the
 * checks of records that can keep one from writing elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "bystander.h"
#include "common/names.h"
#include "common/ring.h"
#include "harness/harness.h"
#include "raw_client.h"

#define OTHERS 3u

static unsigned rounds_of(unsigned rounds)
{
    const char *soak = getenv("GSHARE_TEST_SOAK");

    return rounds * (soak != NULL && atoi(soak) > 0 ? (unsigned)atoi(soak) : 1);
}

static uint64_t below(uint64_t limit)
{
    return test_random() % limit;
}

struct scene {
    struct server *server;
    struct bystanders *others;
    pid_t worker;
};

static void scene_set_with(struct scene *scene, const struct server_options *options)
{
    const char *device = getenv("GSHARE_TEST_DEVICE");

    if (!device || strcmp(device, "cuda") != 0) /* on a GPU it is NVIDIA's */
        setenv("GSHARE_CUBLAS", test_build_path("test/e2e/libgshare-cublaslt.so"), 1);
    scene->server = server_start(options);
    scene->others = bystanders_start(OTHERS);
    scene->worker = server_worker_pid(scene->server);
}

static void scene_set(struct scene *scene)
{
    scene_set_with(scene, NULL);
}

/* The hostile client's part runs in a tenant, so that what it has goes with it. The worker may be
 * replaced once nobody is attached, if a request has raised the stack. */
static void scene_play(struct scene *scene, void (*body)(void *))
{
    tenant_join(tenant_start(body, scene->server->instance));
    CHECK_EQUAL(server_worker_pid(scene->server), scene->worker);
    bystanders_stop(scene->others);
    server_wait_tenants(scene->server, 0, 5000);
    CHECK_EQUAL(server_memory_used(scene->server), 0);
    server_stop(scene->server);
}

/* A session in which everything is right. */
static void attach_good(struct raw_client *raw, const char *instance)
{
    gs_status status = raw_attach(raw, instance);

    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "the raw client is refused: %s", gs_status_name(status));
}

/* ---- Bytes ---- */

/* Numbers that are more often at an edge than chance would have it. */
static uint64_t odd_number(void)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     63,
                                     64,
                                     65,
                                     127,
                                     255,
                                     256,
                                     4095,
                                     4096,
                                     65472,
                                     65535,
                                     65536,
                                     65600,
                                     INT32_MAX,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 40) - 64,
                                     INT64_MAX,
                                     UINT64_MAX - 63,
                                     UINT64_MAX};

    switch (below(4)) {
    case 0:
        return edges[below(ARRAY_SIZE(edges))];
    case 1:
        return below(SEG_STREAMS + 2) * REC_ALIGN;
    case 2:
        return test_random() >> below(64);
    default:
        return edges[below(ARRAY_SIZE(edges))] + below(5) - 2;
    }
}

static void scribble(unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)test_random();
}

static void bytes_once(struct raw_client *raw)
{
    unsigned char *segment = raw->segment;
    size_t where, size;

    switch (below(8)) {
    case 0: /* anywhere, a few bytes */
        where = below(SEG_SIZE - 64);
        scribble(segment + where, 1 + below(64));
        break;
    case 1: /* in the pages before the rings, where the words lie that the server reads */
        where = below(SEG_OFF_RINGS - 4096);
        scribble(segment + where, 1 + below(4096));
        break;
    case 2: /* a word of the client's page */
        where = SEG_OFF_CLIENT + below(64 + SEG_STREAMS + 8) / 8 * 8;
        atomic_store((_Atomic uint64_t *)(void *)(segment + where), odd_number());
        break;
    case 3: /* what the server and the GPU write */
        where = SEG_OFF_COMPLETE + below(SEG_OFF_REQUEST - SEG_OFF_COMPLETE - 8) / 8 * 8;
        atomic_store((_Atomic uint64_t *)(void *)(segment + where), odd_number());
        break;
    case 4: /* a ring */
        where = SEG_OFF_RINGS + below(SEG_STREAMS) * SEG_RING_BYTES;
        size = below(SEG_RING_BYTES);
        scribble(segment + where + below(SEG_RING_BYTES - size), size);
        break;
    case 5: /* a tail */
        atomic_store(&raw->client->tail[below(SEG_STREAMS)], odd_number());
        break;
    case 6: /* the request */
        scribble(segment + SEG_OFF_REQUEST, 1 + below(sizeof(struct seg_request)));
        atomic_store(&raw->request->state, (uint32_t)below(4));
        break;
    default: /* the state and the doorbell flag */
        atomic_store(below(2) ? &raw->server->state : &raw->server->need_bell,
                     (uint32_t)odd_number());
        break;
    }
    if (below(3) == 0)
        atomic_store(&raw->client->activity, below(2) ? test_random() : UINT64_MAX);
    if (below(4) == 0)
        raw_bell(raw);
}

static void bytes_run(void *argument)
{
    struct raw_client raw;

    for (unsigned session = 0; session < rounds_of(40); session++) {
        attach_good(&raw, argument);
        for (unsigned i = 0; i < 400; i++)
            bytes_once(&raw);
        atomic_store(&raw.client->activity, UINT64_MAX);
        raw_bell(&raw);
        if (session % 2)
            raw_detach(&raw);
        else
            raw_drop(&raw);
    }
}

static void random_bytes_all_over_the_segment(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, bytes_run);
}

/* ---- Records ---- */

static uint64_t odd_address(const struct raw_client *raw, const struct raw_belongings *b)
{
    switch (below(8)) {
    case 0:
        return odd_number();
    case 1:
        return raw->info.window_base + odd_number();
    case 2: /* a neighbour's window */
        return raw->info.window_base + (below(2) ? raw->info.window_size : -raw->info.window_size) +
               below(16) * 256;
    case 3:
        return b->memory + b->memory_size - below(16);
    default:
        return b->memory + below(b->memory_size);
    }
}

/* A mostly sensible size. */
static uint64_t odd_size(void)
{
    return below(4) ? below(4096) : odd_number();
}

static uint32_t odd_dimension(void)
{
    /* Never many blocks or threads that are allowed: they would just take long. */
    static const uint32_t dimensions[] = {1, 1, 1, 1, 2, 3, 0, 0x80000000u, UINT32_MAX};

    return dimensions[below(ARRAY_SIZE(dimensions))];
}

/* A side of a box: host, device, array 0, which some sessions have, or nonsense. */
static void side_make(const struct raw_client *raw, const struct raw_belongings *b,
                      struct rec_box_side *side)
{
    side->memory = (uint32_t)(below(8) ? 1 + below(3) : odd_number());
    side->object = side->memory == REC_BOX_HOST && below(4)
                       ? b->block
                       : (uint32_t)(below(3) ? 0 : odd_number());
    side->at = side->memory == REC_BOX_DEVICE ? odd_address(raw, b) : odd_size();
    side->pitch = below(2) ? odd_size() : below(64);
    side->rows = below(2) ? odd_size() : below(64);
}

static void product_make(const struct raw_client *raw, const struct raw_belongings *b,
                         struct rec_gemm *r)
{
    struct rec_gemm_matrix *const matrix[] = {&r->a, &r->b, &r->c};

    r->h.flags = (uint16_t)below(8);
    r->inputs = (uint32_t)(below(8) ? 3 + below(2) : odd_number());
    r->output = below(8) ? r->inputs : (uint32_t)odd_number();
    r->compute = below(8) ? (r->inputs == REC_F64 ? REC_COMPUTE_F64 : REC_COMPUTE_F32)
                          : (uint32_t)odd_number();
    r->batch = (uint32_t)(below(4) ? 1 : odd_number());
    r->m = (uint32_t)(below(4) ? 1 + below(8) : odd_number());
    r->n = (uint32_t)(below(4) ? 1 + below(8) : odd_number());
    r->k = (uint32_t)(below(4) ? 1 + below(8) : odd_number());
    for (unsigned i = 0; i < 3; i++) {
        matrix[i]->at = below(2) ? b->memory + 256 * i : odd_address(raw, b);
        matrix[i]->ld = below(4) ? 8 + below(8) : odd_size();
        matrix[i]->stride = below(2) ? below(64) : odd_size();
    }
    if (r->h.flags & REC_GEMM_DEVICE_SCALARS) {
        r->alpha = below(2) ? b->memory : odd_address(raw, b);
        r->beta = below(2) ? b->memory : odd_address(raw, b);
    }
}

/* Two changes of graph_make's graph, of 8 bytes each, behind its record; or what looks like it. */
static void changes_make(struct rec_graph *graph)
{
    struct rec_change *change = (void *)(graph + 1);

    for (unsigned i = 0; i < 4; i += 2) {
        change[i].step = (uint32_t)(below(8) ? i / 2 + below(2) : odd_number());
        change[i].at = (uint16_t)(below(8) ? 8 + 4 * below(13) : odd_number());
        change[i].bytes = (uint16_t)(below(4) ? 8 : below(2) ? 0 : odd_number());
    }
    graph->changes = (uint32_t)(below(8) ? 16 * below(3) : odd_number());
}

/* Graph 0: a launch, a copy and a memset. */
static void graph_make(struct raw_client *raw, const struct raw_belongings *b)
{
    const struct rec_launch launch = {.h = {.op = REC_LAUNCH, .size = 64},
                                      .kernel = b->kernel,
                                      .param_bytes = 12,
                                      .grid = {1, 1, 1},
                                      .block = {1, 1, 1}};
    const struct rec_copy copy = {.h = {.op = REC_COPY, .size = 64},
                                  .kind = REC_DTOD,
                                  .dst = b->memory,
                                  .src = b->memory + 64,
                                  .bytes = 64};
    const struct rec_memset set = {
        .h = {.op = REC_MEMSET, .size = 64}, .element = 1, .dst = b->memory, .bytes = 64};
    struct raw_request request = {.op = REQ_HOST_ALLOC, .arg = {4096}};
    unsigned char *block;

    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    block = shmat((int)request.ret[1], NULL, 0);
    CHECK(block != (void *)-1);
    memset(block, 0, 192);
    memcpy(block, &launch, sizeof(launch));
    memcpy(block + 64, &copy, sizeof(copy));
    memcpy(block + 128, &set, sizeof(set));
    shmdt(block);
    request = (struct raw_request){.op = REQ_GRAPH_CREATE, .arg = {request.ret[0], 192}};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    CHECK_EQUAL(request.ret[0], 0);
}

static uint32_t record_make(const struct raw_client *raw, const struct raw_belongings *b,
                            unsigned char bytes[REC_SIZE_MAX])
{
    union {
        struct rec_header h;
        struct rec_launch launch;
        struct rec_copy copy;
        struct rec_memset memset;
        struct rec_event event;
        struct rec_wait wait;
        struct rec_graph graph;
        struct rec_box box;
        struct rec_gemm gemm;
        unsigned char bytes[128];
    } r;
    uint32_t size = 64;

    scribble(r.bytes, sizeof(r.bytes));
    r.h = (struct rec_header){.op = (uint16_t)(1 + below(10)), .size = 64};
    switch (r.h.op) {
    case REC_LAUNCH:
        r.launch.kernel = below(4) ? b->kernel : (uint32_t)odd_number();
        r.launch.param_bytes = below(3) ? 12 : (uint32_t)odd_number();
        for (unsigned i = 0; i < 3; i++) {
            r.launch.grid[i] = odd_dimension();
            r.launch.block[i] = odd_dimension();
        }
        r.launch.dynamic_smem = below(3) ? 0 : (uint32_t)odd_number();
        r.launch.report = below(2) ? 0 : (uint32_t)odd_number();
        r.h.flags = (uint16_t)(below(3) ? 0 : below(16));
        if (below(2))
            r.h.size = size = 128;
        break;
    case REC_COPY:
        r.copy.kind = (uint32_t)below(5);
        r.copy.host = below(3) ? b->block : (uint32_t)odd_number();
        r.copy.dst = r.copy.kind == REC_DTOH ? odd_size() : odd_address(raw, b);
        r.copy.src = r.copy.kind == REC_HTOD ? odd_size() : odd_address(raw, b);
        r.copy.bytes = odd_size();
        break;
    case REC_MEMSET:
        r.memset.element = (uint32_t)(below(4) ? 1u << below(3) : odd_number());
        r.memset.dst = odd_address(raw, b);
        r.memset.bytes = odd_size();
        break;
    case REC_EVENT:
        r.event.event = (uint32_t)(below(3) ? below(4) : odd_number());
        break;
    case REC_WAIT:
        /* Mostly for events and positions that never come. */
        r.wait.event = (uint32_t)(below(3) ? below(4) : odd_number());
        r.wait.stream = (uint32_t)(below(3) ? below(3) : odd_number());
        r.wait.position = odd_number();
        break;
    case REC_HOST:
        if (below(2))
            atomic_store(&raw->client->host_done[below(3)], odd_number());
        break;
    case REC_GRAPH:
        r.graph.graph = (uint32_t)(below(4) ? 0 : odd_number());
        changes_make(&r.graph);
        r.h.size = size = 128;
        break;
    case REC_BOX:
        r.box.width = odd_size();
        r.box.height = (uint32_t)(below(3) ? 1 + below(8) : odd_number());
        r.box.depth = (uint32_t)(below(3) ? 1 : odd_number());
        side_make(raw, b, &r.box.dst);
        side_make(raw, b, &r.box.src);
        r.h.size = size = 128;
        break;
    case REC_GEMM:
        product_make(raw, b, &r.gemm);
        r.h.size = size = 128;
        break;
    default:
        break;
    }
    if (below(16) == 0)
        r.h.size = (uint32_t)odd_number();
    if (below(16) == 0)
        r.h.op = (uint16_t)odd_number();
    memcpy(bytes, r.bytes, size);
    return size;
}

static void records_run(void *argument)
{
    struct raw_client raw;
    struct raw_belongings belongings;
    unsigned char record[REC_SIZE_MAX];

    for (unsigned session = 0; session < rounds_of(150); session++) {
        attach_good(&raw, argument);
        raw_belongings_get(&raw, &belongings);
        if (session % 2)
            raw_ask(&raw, &(struct raw_request){
                              .op = REQ_ARRAY_CREATE,
                              .arg = {64, 16, 4, req_array_kind(GS_FORMAT_UINT8, 1, 0, 0)}});
        if (session % 4 < 3)
            graph_make(&raw, &belongings);
        for (unsigned i = 0; i < 60 && raw_open(&raw); i++) {
            uint32_t size = record_make(&raw, &belongings, record);
            unsigned stream = below(8) ? (unsigned)below(2) : (unsigned)below(SEG_STREAMS);

            raw_push(&raw, stream, record, size);
        }
        if (session % 3)
            raw_detach(&raw);
        else
            raw_drop(&raw);
    }
}

static void records_with_random_fields(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, records_run);
}

union small_record {
    struct rec_header h;
    struct rec_launch launch;
    struct rec_copy copy;
    struct rec_memset memset;
    struct rec_event event;
    struct rec_graph graph;
    unsigned char bytes[64];
};

enum bad_field {
    BAD_OPCODE,
    BAD_SIZE_ZERO,
    BAD_SIZE_ODD,
    BAD_SIZE_HUGE,
    BAD_KERNEL,
    BAD_HOST,
    BAD_ADDRESS,
    BAD_BYTES,
    BAD_EVENT,
    BAD_GRAPH,
    BAD_CHANGE,
    BAD_TAIL,
    BAD_TAIL_ODD
};

/* Puts that into a good memset, or another record in its place. */
static void record_break(union small_record *r, enum bad_field bad, struct raw_client *raw,
                         const struct raw_belongings *b)
{
    switch (bad) {
    case BAD_OPCODE:
        r->h.op = 99;
        break;
    case BAD_SIZE_ZERO:
        r->h.size = 0;
        break;
    case BAD_SIZE_ODD:
        r->h.size = 65;
        break;
    case BAD_SIZE_HUGE:
        r->h.size = SEG_RING_BYTES * 2;
        break;
    case BAD_KERNEL:
        r->launch = (struct rec_launch){.h = {.op = REC_LAUNCH, .size = 64},
                                        .kernel = 12345,
                                        .grid = {1, 1, 1},
                                        .block = {1, 1, 1}};
        break;
    case BAD_HOST:
        r->copy = (struct rec_copy){.h = {.op = REC_COPY, .size = 64},
                                    .kind = REC_HTOD,
                                    .host = 1000,
                                    .dst = b->memory,
                                    .bytes = 8};
        break;
    case BAD_ADDRESS:
        r->memset.dst = b->memory + raw->info.window_size;
        break;
    case BAD_BYTES:
        r->memset.bytes = UINT64_MAX;
        break;
    case BAD_EVENT:
        r->event = (struct rec_event){.h = {.op = REC_EVENT, .size = 64}, .event = SEG_EVENTS};
        break;
    case BAD_GRAPH:
        r->graph = (struct rec_graph){.h = {.op = REC_GRAPH, .size = 64}, .graph = 77};
        break;
    case BAD_CHANGE:
        graph_make(raw, b);
        r->graph = (struct rec_graph){.h = {.op = REC_GRAPH, .size = 64}, .changes = 8};
        break;
    case BAD_TAIL:
    case BAD_TAIL_ODD:
        break;
    }
}

/* One bad field each: the session must end with a fault that says what was wrong. */
static void bad_records_run(void *argument)
{
    static const char *const names[] = {"opcode", "size 0",  "size odd", "size huge", "kernel",
                                        "host",   "address", "bytes",    "event",     "graph",
                                        "change", "tail",    "tail odd"};
    struct raw_client raw;
    struct raw_belongings b;

    for (enum bad_field bad = BAD_OPCODE; bad < ARRAY_SIZE(names); bad++) {
        union small_record r = {.bytes = {0}};

        attach_good(&raw, argument);
        raw_belongings_get(&raw, &b);
        r.memset = (struct rec_memset){
            .h = {.op = REC_MEMSET, .size = 64}, .element = 1, .dst = b.memory, .bytes = 16};
        raw_push(&raw, 0, &r, 64);
        CHECK_WITHIN(5000, atomic_load(&raw.complete->position[0]) == 64);
        CHECK(raw_open(&raw));
        record_break(&r, bad, &raw, &b);
        if (bad < BAD_TAIL) {
            raw_push(&raw, 0, &r, 64);
        } else {
            atomic_store(&raw.client->tail[0], bad == BAD_TAIL ? UINT64_C(1) << 40 : 65);
            raw_signal(&raw, 0);
        }
        for (uint64_t deadline = test_deadline(5000); raw_open(&raw); test_pause())
            if (clock_ns() > deadline)
                test_fail(__FILE__, __LINE__, "a record with a bad %s is no fault", names[bad]);
        CHECK_EQUAL(atomic_load(&raw.server->state), SEG_FAULTED);
        CHECK_EQUAL(raw.server->fault.kind, GS_FAULT_REJECTED);
        CHECK(raw.server->fault.status != GS_OK);
        CHECK(raw.server->fault.message[0] != '\0');
        raw_detach(&raw);
    }
}

static void each_bad_field_of_a_record_ends_the_session_with_a_reason(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, bad_records_run);
}

/* A client of its own says what libgshare never would of a mipmapped array. */
static void mipmaps_run(void *argument)
{
    struct rec_box box = {.h = {.op = REC_BOX, .size = sizeof(box)},
                          .width = 8,
                          .height = 1,
                          .depth = 1,
                          .dst = {.memory = REC_BOX_ARRAY},
                          .src = {.memory = REC_BOX_DEVICE, .pitch = 8, .rows = 1}};
    struct req_texture texture = {.type = GS_RESOURCE_ARRAY,
                                  .flags = GS_TEXTURE_NORMALIZED_COORDINATES};
    struct raw_client raw;
    struct raw_belongings b;

    attach_good(&raw, argument);
    raw_belongings_get(&raw, &b);
#define ASK(number, ...) raw_ask(&raw, &(struct raw_request){.op = (number), .arg = {__VA_ARGS__}})
    CHECK_EQUAL(ASK(REQ_ARRAY_CREATE, 64, 16, 0, req_array_kind(GS_FORMAT_UINT8, 1, 7, 0)), GS_OK);
    CHECK_EQUAL(ASK(REQ_ARRAY_CREATE, 64, 16, 0, req_array_kind(GS_FORMAT_UINT8, 1, 8, 0)),
                GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(ASK(REQ_ARRAY_LEVEL, 0, 6), GS_OK); /* array 1 */
    CHECK_EQUAL(ASK(REQ_ARRAY_LEVEL, 0, 7), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(ASK(REQ_ARRAY_LEVEL, 0, UINT64_C(1) << 32), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(ASK(REQ_ARRAY_LEVEL, 1, 0), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(ASK(REQ_ARRAY_LEVEL, 2, 0), GS_ERR_INVALID_HANDLE);
    CHECK_EQUAL(ASK(REQ_SURFACE_CREATE, 0), GS_ERR_INVALID_VALUE);
    raw.request->payload.texture = texture;
    CHECK_EQUAL(ASK(REQ_TEXTURE_CREATE, 0), GS_ERR_INVALID_VALUE);
    texture.type = GS_RESOURCE_MIPMAPPED;
    texture.array = 1;
    raw.request->payload.texture = texture;
    CHECK_EQUAL(ASK(REQ_TEXTURE_CREATE, 0), GS_ERR_INVALID_VALUE);
    texture.array = 0;
    raw.request->payload.texture = texture;
    CHECK_EQUAL(ASK(REQ_TEXTURE_CREATE, 0), GS_OK);
#undef ASK
    box.src.at = b.memory;
    box.dst.object = 1;
    box.width = 1; /* all that the last level has */
    raw_push(&raw, 0, &box, sizeof(box));
    CHECK_WITHIN(5000, atomic_load(&raw.complete->position[0]) == sizeof(box));
    CHECK(raw_open(&raw));
    box.dst.object = 0;
    raw_push(&raw, 0, &box, sizeof(box));
    CHECK_WITHIN(5000, !raw_open(&raw));
    CHECK_EQUAL(atomic_load(&raw.server->state), SEG_FAULTED);
    CHECK_TEXT(raw.server->fault.message, "a mipmapped array");
    raw_detach(&raw);
}

static void a_mipmapped_array_is_no_array_of_texels(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, mipmaps_run);
}

/* What the driver is never asked for. */
static void tensor_maps_run(void *argument)
{
    static const struct req_tensor_map good = {
        .rank = 2, .dim = {128, 64}, .stride = {512}, .box = {32, 16}, .step = {1, 1}, .type = 7};
    static const struct {
        size_t at;
        uint32_t value;
    } bad[] = {{offsetof(struct req_tensor_map, rank), 0},
               {offsetof(struct req_tensor_map, rank), 6},
               {offsetof(struct req_tensor_map, rank), UINT32_MAX},
               {offsetof(struct req_tensor_map, type), 77},
               {offsetof(struct req_tensor_map, interleave), 3},
               {offsetof(struct req_tensor_map, swizzle), UINT32_MAX},
               {offsetof(struct req_tensor_map, promotion), 4},
               {offsetof(struct req_tensor_map, fill), 2},
               {offsetof(struct req_tensor_map, box), 0}};
    struct raw_request request = {.op = REQ_TENSOR_MAP};
    struct raw_belongings b;
    struct raw_client raw;

    attach_good(&raw, argument);
    raw_belongings_get(&raw, &b);
    for (unsigned i = 0; i <= ARRAY_SIZE(bad); i++) {
        struct req_tensor_map map = good;

        map.address = b.memory;
        if (i < ARRAY_SIZE(bad))
            memcpy((unsigned char *)&map + bad[i].at, &bad[i].value, sizeof(bad[i].value));
        raw.request->payload.tensor_map = map;
        CHECK_EQUAL(raw_ask(&raw, &request), i < ARRAY_SIZE(bad) ? GS_ERR_INVALID_VALUE : GS_OK);
    }
    raw_detach(&raw);
}

static void a_tensor_map_of_no_kind_is_refused(void)
{
    struct scene scene;

    scene_set_with(&scene, &server_unfenced);
    scene_play(&scene, tensor_maps_run);
}

/* ---- Records that change while they are read ---- */

struct flipper {
    struct raw_client *raw;
    _Atomic bool stop;
    uint64_t state;
};

/* Races with the one who writes the records: that is its purpose. */
__attribute__((no_sanitize("thread"))) static void *flipper_run(void *argument)
{
    struct flipper *flipper = argument;
    unsigned char *ring = flipper->raw->segment + SEG_OFF_RINGS;
    uint64_t x = flipper->state | 1;

    while (!atomic_load_explicit(&flipper->stop, memory_order_relaxed)) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        /* One of the first bytes of one of the first records. */
        ring[x % 16 * 64 + (x >> 8) % 48] = (unsigned char)(x >> 32);
    }
    return NULL;
}

static void flips_run(void *argument)
{
    struct raw_client raw;
    struct raw_belongings b;

    for (unsigned session = 0; session < rounds_of(60); session++) {
        struct rec_memset r = {.h = {.op = REC_MEMSET, .size = 64}, .element = 1, .bytes = 64};
        struct flipper flipper = {.raw = &raw, .state = test_random()};
        pthread_t thread;

        attach_good(&raw, argument);
        raw_belongings_get(&raw, &b);
        r.dst = b.memory;
        CHECK(pthread_create(&thread, NULL, flipper_run, &flipper) == 0);
        for (unsigned i = 0; i < 200 && raw_open(&raw); i++) {
            raw_push(&raw, 0, &r, 64);
            if (i % 16 == 15) {
                uint64_t deadline = test_deadline(1000);
                while (atomic_load(&raw.complete->position[0]) < raw.tail[0] && raw_open(&raw) &&
                       clock_ns() < deadline)
                    test_pause();
            }
        }
        atomic_store(&flipper.stop, true);
        pthread_join(thread, NULL);
        raw_detach(&raw);
    }
}

static void records_that_change_while_they_are_read(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, flips_run);
}

/* ---- Requests ---- */

/* An array that is small, and mostly one that could be. */
static void array_ask(struct raw_request *request)
{
    static const uint32_t formats[] = {GS_FORMAT_UINT8, GS_FORMAT_FLOAT16, GS_FORMAT_FLOAT32, 5};

    for (unsigned k = 0; k < 3; k++)
        request->arg[k] = below(16) ? below(40) : odd_number();
    request->arg[3] = below(8)
                          ? req_array_kind(formats[below(ARRAY_SIZE(formats))], (uint32_t)below(5),
                                           (uint32_t)below(8), (uint32_t)below(16))
                          : odd_number();
}

/* A texture of what the session has, of a neighbour's, or of nothing. */
static void texture_ask(const struct raw_client *raw, const struct raw_belongings *b)
{
    struct req_texture texture;

    if (below(4) == 0)
        scribble((unsigned char *)&texture, sizeof(texture));
    else
        texture =
            (struct req_texture){.flags = (uint32_t)below(4), .filter_mode = (uint32_t)below(2)};
    texture.type = (uint32_t)below(4);
    if (texture.type == GS_RESOURCE_MIPMAPPED)
        texture.flags |= below(4) ? GS_TEXTURE_NORMALIZED_COORDINATES : 0;
    texture.array = (uint32_t)(below(4) ? below(4) : odd_number());
    texture.address = odd_address(raw, b) & (below(8) ? ~UINT64_C(511) : UINT64_MAX);
    texture.width = odd_size();
    texture.height = below(4) ? 1 + below(16) : odd_number();
    texture.pitch = below(4) ? 32 * below(64) : odd_number();
    texture.format = GS_FORMAT_UINT8;
    texture.channels = 1;
    raw->request->payload.texture = texture;
}

static void requests_run(void *argument)
{
    struct raw_client raw;
    struct raw_belongings b;

    for (unsigned session = 0; session < rounds_of(30); session++) {
        attach_good(&raw, argument);
        raw_belongings_get(&raw, &b);
        for (unsigned i = 0; i < 100 && raw_open(&raw); i++) {
            struct raw_request request = {.op = (uint32_t)below(REQ_COUNT + 1)};

            for (unsigned k = 0; k < 4; k++)
                request.arg[k] = below(3) == 0   ? odd_number()
                                 : below(2) == 0 ? below(4)
                                                 : odd_address(&raw, &b);
            /* Allocations that succeed are fine, but not by the gigabyte. */
            if ((request.op == REQ_MALLOC || request.op == REQ_HOST_ALLOC) &&
                request.arg[0] < UINT64_C(1) << 44)
                request.arg[0] %= 1 << 20;
            if (request.op == REQ_ARRAY_CREATE)
                array_ask(&request);
            if (request.op == REQ_TEXTURE_CREATE)
                texture_ask(&raw, &b);
            if (request.op == REQ_TENSOR_MAP)
                scribble(raw.request->payload.bytes, sizeof(struct req_tensor_map));
            if (below(2))
                request.name = below(2) ? "nothing" : "";
            raw_ask(&raw, &request);
            /* A name without an end; two requests at a time; a request changed in flight. */
            if (below(8) == 0) {
                memset(raw.request->name, 'n', sizeof(raw.request->name));
                raw.request->op = REQ_KERNEL_GET;
                raw.request->arg[0] = below(3);
                atomic_store(&raw.request->state, REQ_POSTED);
                raw_signal(&raw, SEG_REQUEST_BIT);
                raw.request->op = (uint32_t)below(REQ_COUNT + 1);
                atomic_store(&raw.request->state, REQ_POSTED);
                raw_signal(&raw, SEG_REQUEST_BIT);
                CHECK_WITHIN(10000,
                             atomic_load(&raw.request->state) == REQ_DONE || !raw_open(&raw));
            }
        }
        if (session % 2)
            raw_detach(&raw);
        else
            raw_drop(&raw);
    }
}

static void random_requests(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, requests_run);
}

/* ---- Queues ---- */

static void control_messages_run(void *argument)
{
    const char *instance = argument;
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = CTL_MESSAGE_MAX};
    static const size_t sizes[] = {sizeof(struct ctl_header),   sizeof(struct ctl_attach),
                                   sizeof(struct ctl_admin),    sizeof(struct ctl_set_qos),
                                   sizeof(struct ctl_set),      sizeof(struct ctl_reserve),
                                   sizeof(struct ctl_provision)};
    char name[WIRE_NAME_MAX], reply_name[WIRE_NAME_MAX];
    uint64_t token = test_random();
    mqd_t queue, reply;

    name_control(name, geteuid(), instance);
    queue = mq_open(name, O_WRONLY | O_CLOEXEC);
    CHECK(queue >= 0);
    name_reply(reply_name, geteuid(), instance, token);
    reply = mq_open(reply_name, O_RDONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_CLOEXEC, 0600, &attr);
    CHECK(reply >= 0);
    for (unsigned i = 0; i < rounds_of(3000); i++) {
        union {
            struct ctl_header h;
            unsigned char bytes[CTL_MESSAGE_MAX];
        } m;
        size_t size = below(3) ? sizes[below(ARRAY_SIZE(sizes))] : below(CTL_MESSAGE_MAX + 1);

        scribble(m.bytes, sizeof(m.bytes));
        if (below(8)) {
            m.h = (struct ctl_header){
                .magic = WIRE_MAGIC, .version = WIRE_VERSION, .size = (uint32_t)size};
            m.h.op = (uint16_t)(below(4) ? 1 + below(CTL_PROVISION) : odd_number());
            m.h.token = below(2) ? token : test_random();
            if (below(8) == 0)
                m.h.version = (uint16_t)odd_number();
            if (below(8) == 0)
                m.h.size = (uint32_t)odd_number();
            /* Asking the server to end is no attack for the user whose server it is. */
            if (m.h.op == CTL_QUIT)
                m.h.magic = 0;
        }
        CHECK(mq_send(queue, (const char *)m.bytes, size, 0) == 0);
        if (below(4) == 0) {
            char answer[CTL_MESSAGE_MAX];
            while (mq_receive(reply, answer, sizeof(answer), NULL) >= 0)
                ;
        }
        /* The server removes a reply queue that it has answered into. */
        if (below(16) == 0) {
            mq_close(reply);
            mq_unlink(reply_name);
            token = test_random();
            name_reply(reply_name, geteuid(), instance, token);
            attr.mq_msgsize = below(3) ? CTL_MESSAGE_MAX : (long)(1 + below(64));
            reply = mq_open(reply_name, O_RDONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_CLOEXEC, 0600,
                            &attr);
            CHECK(reply >= 0);
        }
    }
    mq_close(reply);
    mq_unlink(reply_name);
    mq_close(queue);
}

static void random_control_messages(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, control_messages_run);
}

static void ask_as(mqd_t queue, uint16_t op, uint64_t token)
{
    struct ctl_admin request = {.h = {.magic = WIRE_MAGIC,
                                      .version = WIRE_VERSION,
                                      .op = op,
                                      .size = sizeof(request),
                                      .token = token}};

    CHECK(mq_send(queue, (const char *)&request, sizeof(request), 0) == 0);
}

/* Any user can list the queues there are, and see somebody's reply queue. Who asks in its name must
 * not be taken for its owner. */
static void nobody_can_ask_in_the_name_of_a_queue_that_he_sees(void)
{
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = CTL_REPLY_MAX};
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct server *server = server_start(NULL);
    char name[WIRE_NAME_MAX], answer[CTL_REPLY_MAX];
    struct ctl_header header;
    struct timespec until;
    uint64_t token = test_random(), seen;
    mqd_t queue, reply;

    name_control(name, geteuid(), server->instance);
    queue = mq_open(name, O_WRONLY | O_CLOEXEC);
    name_reply(name, geteuid(), server->instance, token);
    reply = mq_open(name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
    CHECK(queue >= 0 && reply >= 0 && fcntl(reply, F_SETLK, &lock) == 0);
    seen = strtoull(strrchr(name, '.') + 1, NULL, 16);
    ask_as(queue, CTL_STATUS, seen);
    ask_as(queue, CTL_PS, token); /* its owner */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    CHECK(mq_timedreceive(reply, answer, sizeof(answer), NULL, &until) >= (ssize_t)sizeof(header));
    memcpy(&header, answer, sizeof(header));
    CHECK_EQUAL(header.op, CTL_PS);
    mq_close(reply);
    mq_close(queue);
    server_stop(server);
}

static void bell_run(void *argument)
{
    struct raw_client raw;

    attach_good(&raw, argument);
    for (unsigned i = 0; i < rounds_of(100000); i++) {
        unsigned char junk[BELL_MESSAGE_SIZE + 4];

        scribble(junk, sizeof(junk));
        if (mq_send(raw.bell, (char *)junk, below(BELL_MESSAGE_SIZE + 1), (unsigned)below(3)) < 0)
            CHECK(errno == EAGAIN || errno == EMSGSIZE);
    }
    raw_detach(&raw);
}

static void a_doorbell_rung_without_end(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, bell_run);
}

/* ---- Sessions that are never confirmed, and one confirmed twice ---- */

static void unconfirmed_run(void *argument)
{
    struct raw_client raw[20];

    for (unsigned i = 0; i < ARRAY_SIZE(raw); i++)
        CHECK_EQUAL(raw_attach_unconfirmed(&raw[i], argument), GS_OK);
    for (unsigned i = 0; i < ARRAY_SIZE(raw); i++) {
        if (i % 3 == 0) {
            raw_confirm(&raw[i]);
            raw_confirm(&raw[i]);
        }
        raw_drop(&raw[i]);
    }
}

static void sessions_never_confirmed_go(void)
{
    struct scene scene;

    scene_set(&scene);
    scene_play(&scene, unconfirmed_run);
}

static const struct test tests[] = {
    TEST_WITHIN(random_bytes_all_over_the_segment, 120),
    TEST_WITHIN(records_with_random_fields, 120),
    TEST(each_bad_field_of_a_record_ends_the_session_with_a_reason),
    TEST(a_mipmapped_array_is_no_array_of_texels),
    TEST(a_tensor_map_of_no_kind_is_refused),
    TEST(records_that_change_while_they_are_read),
    TEST_WITHIN(random_requests, 120),
    TEST(random_control_messages),
    TEST(nobody_can_ask_in_the_name_of_a_queue_that_he_sees),
    TEST(a_doorbell_rung_without_end),
    TEST(sessions_never_confirmed_go),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
