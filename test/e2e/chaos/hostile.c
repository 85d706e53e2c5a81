/* hostile.c - see hostile.h. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../raw_client.h"
#include "common/names.h"
#include "instructions/addressing.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

#define FORMS_MAX     512u
#define FORMS_A_TIME  4u
#define ADDRESSES     256u
#define MUTANTS       8u
#define SESSIONS_MAX  64u
#define PIECES_MAX    2048u
#define QUEUES_MAX    300u
#define PROCESSES_MAX 24u
#define MESSAGES      3000u
#define RECORDS_MAX   300u
#define SESSIONS_ODD  6u
#define OBJECTS_MAX   2048u
#define MODULES_MAX   64u

/* ---- Kernels ---- */

/* Each stands alone, so that a refusal is a refusal of this one. */
static const struct {
    const char *name, *ptx;
    unsigned blocks, threads;
} hostile_kernels[] = {
    {"trap", HEAD ".visible .entry k(.param .u64 at) { trap; }\n", 2, 64},
    {"failed assert",
     HEAD ".extern .func __assertfail(.param .b64 a, .param .b64 f, .param .b32 l, .param .b64 n,"
          " .param .b64 c);\n"
          ".global .align 1 .b8 text[4] = {48, 62, 49, 0};\n"
          ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, text; cvta.global.u64 %rd, %rd;\n"
          "  mov.u32 %r, 7;\n"
          "  { .param .b64 a; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;\n"
          "    st.param.b64 [a], %rd; st.param.b64 [f], %rd; st.param.b32 [l], %r;\n"
          "    st.param.b64 [n], %rd; st.param.b64 [c], %rd;\n"
          "    call.uni __assertfail, (a, f, l, n, c); }\n"
          "  ret; }\n",
     2, 64},
    {"endless",
     HEAD
     ".visible .entry k(.param .u64 at)\n"
     "{ .reg .b64 %rd; .reg .b32 %r; .reg .pred %p; ld.param.u64 %rd, [at];\n"
     "again: ld.volatile.global.u32 %r, [%rd]; setp.ne.u32 %p, %r, 77; @%p bra again; ret; }\n",
     2, 64},
    {"deadlock", /* of barriers that each half of a block reaches in another order */
     HEAD ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n"
          "  @%p bra other; bar.sync 0; bar.sync 1; ret; other: bar.sync 1, 64; bar.sync 0, 64;\n"
          "  bar.sync 2, 128; ret; }\n",
     2, 64},
    {"misaligned",
     HEAD ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd+2], 1; ret; }\n",
     2, 64},
    {"beyond shared",
     HEAD ".visible .entry k(.param .u64 at)\n"
          "{ .shared .align 4 .b8 s[64]; .reg .b32 %r; mov.u32 %r, s; add.u32 %r, %r, 0x4000000;\n"
          "  st.shared.u32 [%r], 1; ret; }\n",
     2, 64},
    {"stack overflow", /* 4 KiB a call, a hundred thousand deep */
     HEAD ".func (.param .u32 out) deep(.param .u32 n)\n"
          "{ .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p; .local .align 4 .b8 a[4096];\n"
          "  ld.param.u32 %r0, [n]; mov.u32 %r1, 0; setp.eq.u32 %p, %r0, 0; @%p bra done;\n"
          "  and.b32 %r2, %r0, 4092; cvt.u64.u32 %rd0, %r2; mov.u64 %rd1, a;\n"
          "  add.u64 %rd1, %rd1, %rd0; st.local.u32 [%rd1], %r0; sub.u32 %r2, %r0, 1;\n"
          "  { .param .u32 x; .param .u32 y; st.param.u32 [x], %r2; call.uni (y), deep, (x);\n"
          "    ld.param.u32 %r3, [y]; }\n"
          "  ld.local.u32 %r1, [%rd1]; add.u32 %r1, %r1, %r3;\n"
          "done: st.param.u32 [out], %r1; ret; }\n"
          ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [at]; mov.u32 %r, 100000;\n"
          "  { .param .u32 x; .param .u32 y; st.param.u32 [x], %r; call.uni (y), deep, (x);\n"
          "    ld.param.u32 %r, [y]; }\n"
          "  st.global.u32 [%rd], %r; ret; }\n",
     2, 64},
    {"endless recursion", /* the word that would end it never comes */
     HEAD ".func (.param .u32 out) again(.param .u64 at, .param .u32 n)\n"
          "{ .reg .b32 %r<3>; .reg .b64 %rd; .reg .pred %p; ld.param.u64 %rd, [at];\n"
          "  ld.param.u32 %r0, [n]; ld.volatile.global.u32 %r1, [%rd]; setp.eq.u32 %p, %r1, 77;\n"
          "  @%p bra done; add.u32 %r1, %r0, 1;\n"
          "  { .param .u64 a; .param .u32 x; .param .u32 y; st.param.u64 [a], %rd;\n"
          "    st.param.u32 [x], %r1; call.uni (y), again, (a, x); ld.param.u32 %r2, [y]; }\n"
          "  add.u32 %r0, %r0, %r2;\n"
          "done: st.param.u32 [out], %r0; ret; }\n"
          ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [at]; mov.u32 %r, 0;\n"
          "  { .param .u64 a; .param .u32 x; .param .u32 y; st.param.u64 [a], %rd;\n"
          "    st.param.u32 [x], %r; call.uni (y), again, (a, x); ld.param.u32 %r, [y]; }\n"
          "  st.global.u32 [%rd+4], %r; ret; }\n",
     2, 64},
    {"all shared memory",
     HEAD ".visible .entry k(.param .u64 at)\n"
          "{ .shared .align 4 .b8 s[49152]; .reg .b32 %r<4>; .reg .pred %p;\n"
          "  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;\n"
          "  mov.u32 %r3, 40;\n"
          "again: st.volatile.shared.u32 [%r1], %r3; bar.sync 0; sub.u32 %r3, %r3, 1;\n"
          "  setp.ne.u32 %p, %r3, 0; @%p bra again; ret; }\n",
     64, 1024},
    {"all heap", /* of the session's kernels: each thread takes what there is, and writes to it */
     HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
          ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd<3>; .reg .b32 %r; .reg .pred %p; mov.u32 %r, 4000;\n"
          "again: mov.u64 %rd0, 8000;\n"
          "  { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd0; call.uni (r), malloc, (n);\n"
          "    ld.param.b64 %rd1, [r]; }\n"
          "  setp.eq.u64 %p, %rd1, 0; @%p ret; st.u64 [%rd1], %rd1; st.u64 [%rd1+7992], %rd1;\n"
          "  sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again; ret; }\n",
     4, 64},
    {"flood of prints", /* more than there is room for */
     HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
          ".global .align 1 .b8 text[8] = {104, 97, 32, 37, 117, 10, 0, 0};\n"
          ".visible .entry k(.param .u64 at)\n"
          "{ .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p; .local .align 8 .b8 a[8];\n"
          "  mov.u64 %rd0, text; cvta.global.u64 %rd0, %rd0; mov.u64 %rd1, a;\n"
          "  cvta.local.u64 %rd1, %rd1; mov.u32 %r0, 500;\n"
          "again: st.local.u32 [a], %r0;\n"
          "  { .param .b64 f; .param .b64 b; .param .b32 r; st.param.b64 [f], %rd0;\n"
          "    st.param.b64 [b], %rd1; call.uni (r), vprintf, (f, b); ld.param.b32 %r1, [r]; }\n"
          "  sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra again; ret; }\n",
     2, 64},
    {"all registers", NULL, 64, 256}, /* see registers_write */
};

#define REGISTERS 250u

/* A kernel with so many registers that all live to its end. */
static const char *registers_write(void)
{
    static char text[1u << 16];
    char *to = text, *end = text + sizeof(text);

#define PUT(...) to += snprintf(to, (size_t)(end - to), __VA_ARGS__)
    PUT(HEAD ".visible .entry k(.param .u64 at)\n{ .reg .b64 %%rd; .reg .b32 %%r<%u>;\n"
             "  ld.param.u64 %%rd, [at]; ld.volatile.global.u32 %%r0, [%%rd];\n",
        REGISTERS);
    for (unsigned i = 1; i < REGISTERS; i++)
        PUT("mad.lo.u32 %%r%u, %%r%u, 1664525, %u;\n", i, i - 1, i);
    for (unsigned i = REGISTERS - 1; i > 0; i--)
        PUT("xor.b32 %%r0, %%r0, %%r%u;\n", i);
    PUT("st.global.u32 [%%rd+8], %%r0; ret; }\n");
#undef PUT
    return text;
}

unsigned hostile_kernel_count(void)
{
    return ARRAY_SIZE(hostile_kernels);
}

const char *hostile_kernel_name(unsigned kernel)
{
    return hostile_kernels[kernel].name;
}

unsigned hostile_kernel_named(const char *name)
{
    for (unsigned i = 0; i < ARRAY_SIZE(hostile_kernels); i++) {
        if (strcmp(hostile_kernels[i].name, name) == 0)
            return i;
    }
    test_fail(__FILE__, __LINE__, "no kernel is named %s", name);
}

/* ---- What it says of itself ---- */

/* As the other user, if that is possible, and silently: what its kernels print is nobody's
 * business. Its end with the test's is asked for anew, since the kernel forgets that when a process
 * changes its user. */
static void become(const struct hostile *h)
{
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const pid_t parent = getppid();

    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    if (geteuid() != 0)
        return;
    if (setgroups(0, NULL) || setgid(h->uid) || setuid(h->uid))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

/* Notes how a call went; returns it. */
static gs_status told(struct hostile *h, gs_status status)
{
    if (status == GS_ERR_INTERRUPTED || status == GS_ERR_SERVER_LOST)
        return status;
    atomic_fetch_add(status == GS_OK ? &h->done : &h->refused, 1);
    return status;
}

static gs_status hostile_attach(struct hostile *h, gs_session *session)
{
    return told(h, gs_attach(NULL, session));
}

static void hostile_detach(struct hostile *h, gs_session session)
{
    gs_fault fault = GS_FAULT_INIT;
    uint32_t none = 0;

    if (gs_last_fault(session, &fault) == GS_OK && fault.kind != GS_FAULT_NONE) {
        if (fault.status == GS_ERR_INTERRUPTED)
            atomic_fetch_add(&h->ended, 1);
        else
            atomic_compare_exchange_strong(&h->fault, &none, fault.kind);
    }
    gs_detach(session);
}

/* ---- Bodies ---- */

void hostile_kernel(void *argument)
{
    struct hostile *h = argument;
    const char *text = hostile_kernels[h->kernel].ptx;
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr at;

    become(h);
    if (text == NULL)
        text = registers_write();
    if (hostile_attach(h, &session) != GS_OK) {
        gate_pass(&h->ready);
        gate_pass(&h->launched);
        return;
    }
    if (told(h, gs_malloc(session, 4096, &at)) == GS_OK &&
        told(h, gs_module_load(session, text, strlen(text), &module)) == GS_OK &&
        told(h, gs_kernel_get(module, "k", &kernel)) == GS_OK) {
        gate_pass(&h->ready);
        if (h->waits)
            gate_wait(&h->go, 1);
        for (unsigned i = 0; i < 3; i++)
            kernels_launch(NULL, kernel, hostile_kernels[h->kernel].blocks,
                           hostile_kernels[h->kernel].threads, (void *[]){&at});
        gate_pass(&h->launched);
        gs_sync(session);
    }
    gate_pass(&h->ready);
    gate_pass(&h->launched);
    hostile_detach(h, session);
}

static struct instruction forms[FORMS_MAX];
static unsigned forms_count;

unsigned hostile_forms_read(void)
{
    FILE *table = fopen(INSTRUCTIONS "/table.txt", "r");
    char line[MAX_LINE];

    CHECK(table != NULL);
    forms_count = 0;
    while (fgets(line, sizeof(line), table) != NULL) {
        CHECK(forms_count < FORMS_MAX && instruction_read(&forms[forms_count], line));
        forms_count += addressing_is(&forms[forms_count]);
    }
    fclose(table);
    for (unsigned i = 0; forms_count < FORMS_MAX && addressing_form(i, &forms[forms_count]); i++)
        forms_count++;
    return forms_count;
}

/* Aligned as the widest access needs: in windows beside its own, or anywhere. */
static uint64_t stray_address(gs_devptr own)
{
    const uint64_t r = test_random();

    if (r % 4 == 0)
        return (r >> 3) & ~UINT64_C(0x7f);
    return (own + ((r >> 8 & 63) << 32) - (UINT64_C(32) << 32) + (r >> 16 & 0xfffff80)) &
           ~UINT64_C(0x7f);
}

void hostile_stray(void *argument)
{
    struct hostile *h = argument;
    uint64_t addresses[ADDRESSES];
    gs_session session;
    gs_devptr at;

    become(h);
    if (hostile_attach(h, &session) != GS_OK)
        return;
    for (unsigned i = 0; i < FORMS_A_TIME; i++) {
        const struct instruction *form = &forms[test_random() % forms_count];
        char text[8192];
        gs_module module;
        gs_kernel kernel;

        addressing_kernel_write(form, text, sizeof(text));
        if (told(h, gs_malloc(session, sizeof(addresses), &at)) != GS_OK ||
            told(h, gs_module_load(session, text, strlen(text), &module)) != GS_OK ||
            told(h, gs_kernel_get(module, "k", &kernel)) != GS_OK)
            break;
        for (unsigned k = 0; k < ADDRESSES; k++)
            addresses[k] = stray_address(at);
        gs_memcpy_htod(session, at, addresses, sizeof(addresses));
        kernels_launch(NULL, kernel, ADDRESSES, 1, (void *[]){&at});
        gs_sync(session);
    }
    hostile_detach(h, session);
}

void hostile_scribbles(void *argument)
{
    struct hostile *h = argument;
    struct raw_client raw;

    become(h);
    if (told(h, raw_attach(&raw, h->instance)) != GS_OK)
        return;
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t at = test_random() % (SEG_SIZE - 8), what = test_random();
        memcpy(raw.segment + (i % 2 ? at : at % SEG_OFF_RINGS), &what, 8);
        if (i % 1000 == 0)
            raw_signal(&raw, (unsigned)(what % 64));
    }
    raw_drop(&raw);
}

/* A record of a kind that there is, and of its size, whose fields are anything: mostly small
 * numbers and addresses of the session's. Returns its size. */
static uint32_t odd_record(unsigned char record[128], uint64_t memory)
{
    struct rec_header header = {.op = (uint16_t)(REC_LAUNCH + test_random() % REC_GEMM)};
    uint64_t words[16];

    for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
        const uint64_t r = test_random();

        words[i] = r % 8 == 0   ? r
                   : r % 8 < 4  ? memory + (r >> 8) % 8192 / 16 * 16
                   : r % 8 == 4 ? (r >> 8) % 4 << 32 | (r >> 40) % 4
                                : (r >> 8) % 256;
    }
    header.size =
        header.op == REC_GRAPH || header.op == REC_BOX || header.op == REC_GEMM ? 128 : 64;
    memcpy(words, &header, sizeof(header));
    memcpy(record, words, sizeof(words));
    return header.size;
}

/* Makes what such a record may name: memory, a stream, an array, a graph of memsets. */
static gs_status odd_belongings(struct hostile *h, struct raw_client *raw, uint64_t *memory)
{
    struct raw_request request = {.op = REQ_MALLOC, .arg = {8192}};
    unsigned char *block;

    TRY(told(h, raw_ask(raw, &request)));
    *memory = request.ret[0];
    TRY(told(h, raw_ask(raw, &(struct raw_request){.op = REQ_STREAM_CREATE})));
    TRY(told(h, raw_ask(raw, &(struct raw_request){
                                 .op = REQ_ARRAY_CREATE,
                                 .arg = {64, 16, 0, req_array_kind(GS_FORMAT_UINT8, 1, 4, 0)}})));
    request = (struct raw_request){.op = REQ_HOST_ALLOC, .arg = {4096, 1}};
    TRY(told(h, raw_ask(raw, &request)));
    block = shmat((int)request.ret[1], NULL, 0);
    if (block == (void *)-1)
        return GS_ERR_SYSTEM;
    for (unsigned i = 0; i < 4; i++) {
        const struct rec_memset set = {.h = {.op = REC_MEMSET, .size = 64},
                                       .element = 1,
                                       .dst = *memory + 64 * i,
                                       .bytes = 64};
        memcpy(block + 64 * i, &set, sizeof(set));
    }
    shmdt(block);
    return told(h, raw_ask(raw, &(struct raw_request){.op = REQ_GRAPH_CREATE,
                                                      .arg = {request.ret[0], 256}}));
}

void hostile_records(void *argument)
{
    struct hostile *h = argument;
    unsigned char record[128];
    struct raw_client raw;
    uint64_t memory;

    become(h);
    for (unsigned n = 0; n < SESSIONS_ODD; n++) {
        if (told(h, raw_attach(&raw, h->instance)) != GS_OK)
            return;
        if (odd_belongings(h, &raw, &memory) == GS_OK) {
            for (unsigned i = 0; i < RECORDS_MAX && raw_open(&raw); i++) {
                const uint32_t size = odd_record(record, memory);

                raw_push(&raw, (unsigned)(test_random() % 2), record, size);
            }
        }
        raw_drop(&raw);
    }
}

/* Kernels that end soon and do no harm as they are, where each argument is an address of the
 * session's: so what harm there is comes of the change, and no mutant keeps the next from its turn.
 */
static const char *const mutable_kernels[] = {"fill",        "add", "scale", "increment",
                                              "count",       "sum", "store", "many_parameters",
                                              "table_lookup"};

static void mutant_launch(struct hostile *h, gs_module module, gs_devptr at)
{
    uint64_t arguments[8];
    void *pointers[16];
    gs_kernel kernel;

    for (unsigned k = 0; k < 8; k++)
        arguments[k] = at;
    for (unsigned i = 0; i < 16; i++)
        pointers[i] = arguments;
    for (unsigned i = 0; i < ARRAY_SIZE(mutable_kernels); i++) {
        if (told(h, gs_kernel_get(module, mutable_kernels[i], &kernel)) == GS_OK)
            kernels_launch(NULL, kernel, 2, 64, pointers);
    }
}

void hostile_mutants(void *argument)
{
    struct hostile *h = argument;
    char *text = strdup(kernels_ptx);
    const size_t length = strlen(text);
    gs_session session;
    gs_devptr at;

    become(h);
    if (hostile_attach(h, &session) != GS_OK || told(h, gs_malloc(session, 65536, &at)) != GS_OK) {
        free(text);
        return;
    }
    for (unsigned i = 0; i < MUTANTS; i++) {
        gs_module module;

        memcpy(text, kernels_ptx, length);
        for (unsigned n = 0; n < 3; n++)
            text[test_random() % length] = (char)(32 + test_random() % 95);
        if (told(h, gs_module_load(session, text, length, &module)) != GS_OK)
            continue;
        mutant_launch(h, module, at);
        if (gs_sync(session) != GS_OK) /* what it did has ended the session */
            break;
        gs_module_unload(module);
    }
    hostile_detach(h, session);
    free(text);
}

void hostile_memory(void *argument)
{
    struct hostile *h = argument;
    gs_session session;
    gs_mem_handle handle;
    gs_devptr at;
    void *host;

    become(h);
    if (hostile_attach(h, &session) != GS_OK)
        return;
    for (unsigned i = 0; i < PIECES_MAX; i++) {
        if (told(h, gs_malloc(session, 1u << 20, &at)) != GS_OK)
            break;
        if (i % 4 == 0)
            told(h, gs_mem_export(session, at, GS_EXPORT_TO_USER, &handle));
    }
    for (size_t size = 64u << 20; size >= 4096; size /= 2) {
        for (unsigned i = 0; i < PIECES_MAX && told(h, gs_malloc(session, size, &at)) == GS_OK; i++)
            ;
    }
    for (unsigned i = 0; i < 128 && told(h, gs_host_alloc(session, 1u << 20, &host)) == GS_OK; i++)
        ;
    if (test_random() % 2)
        _exit(0); /* without a word */
    hostile_detach(h, session);
}

void hostile_sessions(void *argument)
{
    struct hostile *h = argument;
    gs_session session[SESSIONS_MAX];
    unsigned count = 0;
    gs_stream stream;
    gs_event event;

    become(h);
    while (count < SESSIONS_MAX && hostile_attach(h, &session[count]) == GS_OK)
        count++;
    for (unsigned i = 0; i < count; i += 16) {
        while (told(h, gs_stream_create(session[i], NULL, &stream)) == GS_OK)
            ;
        while (told(h, gs_event_create(session[i], &event)) == GS_OK)
            ;
    }
    if (test_random() % 2)
        _exit(0);
    while (count-- > 0)
        hostile_detach(h, session[count]);
}

static void arrays_take(struct hostile *h, gs_session session)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_status status = GS_OK;
    gs_array array, level;
    gs_texture texture;
    gs_surface surface;

    desc.width = desc.height = 16;
    desc.format = GS_FORMAT_UINT8;
    desc.channels = 1;
    desc.flags = GS_ARRAY_SURFACE;
    desc.levels = 3;
    for (unsigned i = 0; i < OBJECTS_MAX && status == GS_OK; i++) {
        status = told(h, gs_array_create(session, &desc, &array));
        if (status == GS_OK)
            status = told(h, gs_array_level(array, i % 3, &level));
        if (status != GS_OK)
            return;
        resource.type = GS_RESOURCE_ARRAY;
        resource.array = level;
        status = told(h, gs_texture_create(session, &resource, NULL, &texture));
        if (status == GS_OK)
            status = told(h, gs_surface_create(session, level, &surface));
    }
}

static void modules_take(struct hostile *h, gs_session session)
{
    gs_status status = GS_OK;

    for (unsigned i = 0; i < MODULES_MAX && status == GS_OK; i++) {
        char text[256];
        gs_module module;
        gs_kernel kernel;

        snprintf(text, sizeof(text),
                 HEAD ".visible .entry k(.param .u64 at)\n"
                      "{ .reg .b64 %%rd; ld.param.u64 %%rd, [at]; st.global.u64 [%%rd], %llu; ret; "
                      "}\n",
                 (unsigned long long)test_random() % 1000000);
        status = told(h, gs_module_load(session, text, strlen(text), &module));
        if (status == GS_OK)
            status = told(h, gs_kernel_get(module, "k", &kernel));
    }
}

static void graphs_take(struct hostile *h, gs_session session)
{
    gs_status status = GS_OK;
    gs_stream stream;
    gs_devptr at;

    if (told(h, gs_malloc(session, 4096, &at)) != GS_OK ||
        told(h, gs_stream_create(session, NULL, &stream)) != GS_OK)
        return;
    for (unsigned i = 0; i < OBJECTS_MAX && status == GS_OK; i++) {
        gs_graph graph;

        status = told(h, gs_graph_begin(session, stream));
        for (unsigned k = 0; k < 32 && status == GS_OK; k++)
            status = gs_memset_async(session, at, (int)k, 4096, stream);
        if (status == GS_OK)
            status = told(h, gs_graph_end(session, stream, &graph));
        if (status == GS_OK && i % 8 == 0)
            status = gs_graph_launch(graph, stream);
    }
}

void hostile_objects(void *argument)
{
    struct hostile *h = argument;
    gs_session session;

    become(h);
    if (hostile_attach(h, &session) != GS_OK)
        return;
    arrays_take(h, session);
    modules_take(h, session);
    graphs_take(h, session);
    if (test_random() % 2)
        _exit(0);
    hostile_detach(h, session);
}

void hostile_queues(void *argument)
{
    struct hostile *h = argument;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    const uid_t owner = geteuid(); /* of the server */
    mqd_t queue[QUEUES_MAX], control;
    char name[WIRE_NAME_MAX];
    unsigned count = 0;

    become(h);
    for (; count < QUEUES_MAX; count++) {
        snprintf(name, sizeof(name), "/gshare-chaos.%d.%u", (int)getpid(), count);
        queue[count] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
        if (queue[count] < 0)
            break;
        /* Unlinked at once, so that nothing is left behind: it takes its place until it is closed.
         */
        mq_unlink(name);
    }
    told(h, count < QUEUES_MAX ? GS_ERR_LIMIT : GS_OK);
    name_control(name, owner, h->instance);
    control = mq_open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    for (unsigned i = 0; i < MESSAGES && control >= 0; i++) {
        uint64_t words[16];

        for (unsigned k = 0; k < 16; k++)
            words[k] = test_random() % 4 ? test_random() : test_random() % 32;
        mq_send(control, (const char *)words, test_random() % sizeof(words), 0);
    }
    while (count-- > 0)
        mq_close(queue[count]);
    if (control >= 0)
        mq_close(control);
}

void hostile_processes(void *argument)
{
    struct hostile *h = argument;
    pid_t pid[PROCESSES_MAX];
    unsigned count = 0;
    gs_session session;
    gs_devptr at;

    become(h);
    for (; count < PROCESSES_MAX; count++) {
        pid[count] = fork();
        if (pid[count] < 0)
            break;
        if (pid[count] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (hostile_attach(h, &session) == GS_OK)
            told(h, gs_malloc(session, 3u << 20, &at));
        gate_pass(&h->launched);
        pause();
        _exit(0);
    }
    gate_wait(&h->launched, count);
    for (unsigned i = 0; i < count; i++)
        kill(pid[i], SIGKILL);
    for (unsigned i = 0; i < count; i++)
        waitpid(pid[i], NULL, 0);
}
