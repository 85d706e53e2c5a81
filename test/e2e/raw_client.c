/* raw_client.c - see raw_client.h. */
#include "raw_client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/shm.h>

#include "common/ring.h"
#include "harness/harness.h"

#define ASK_MS 10000u

gs_status raw_attach_unconfirmed(struct raw_client *raw, const char *instance)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_attach attach = {
        .client_version = GS_VERSION, .device = GS_DEVICE_AUTO, .name = "raw"};
    gs_status status;

    *raw = (struct raw_client){.control = {.queue = -1}, .bell = -1};
    status = control_open(&raw->control, instance, message);
    if (status == GS_OK)
        status = control_ask(&raw->control, &attach.h, CTL_ATTACH, sizeof(attach), &raw->grant,
                             sizeof(raw->grant), test_deadline(ASK_MS), message);
    if (status != GS_OK) {
        control_close(&raw->control);
        return status;
    }
    raw->segment = shmat(raw->grant.segment_id, NULL, 0);
    raw->page = shmat(raw->grant.status_page_id, NULL, SHM_RDONLY);
    if (raw->segment == (void *)-1 || raw->page == (void *)-1)
        test_fail(__FILE__, __LINE__, "shmat: %s", strerror(errno));
    memcpy(&raw->info, raw->segment + SEG_OFF_INFO, sizeof(raw->info));
    raw->client = (struct seg_client *)(raw->segment + SEG_OFF_CLIENT);
    raw->complete = (struct seg_complete *)(raw->segment + SEG_OFF_COMPLETE);
    raw->server = (struct seg_server *)(raw->segment + SEG_OFF_SERVER);
    raw->request = (struct seg_request *)(raw->segment + SEG_OFF_REQUEST);
    raw->bell = mq_open(raw->info.bell, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (raw->bell < 0)
        test_fail(__FILE__, __LINE__, "mq_open of %s: %s", raw->info.bell, strerror(errno));
    return GS_OK;
}

void raw_confirm(struct raw_client *raw)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_header confirm;
    gs_status status = control_send(&raw->control, &confirm, CTL_CONFIRM, sizeof(confirm),
                                    raw->grant.cookie, test_deadline(ASK_MS), message);

    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "confirming: %s", message);
}

gs_status raw_attach(struct raw_client *raw, const char *instance)
{
    gs_status status = raw_attach_unconfirmed(raw, instance);

    if (status == GS_OK)
        raw_confirm(raw);
    return status;
}

void raw_drop(struct raw_client *raw)
{
    shmdt(raw->segment);
    shmdt(raw->page);
    mq_close(raw->bell);
    control_close(&raw->control);
}

void raw_detach(struct raw_client *raw)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_header detach;
    gs_status status;

    /* What was scribbled into the state is ours; from here on only the server writes it. */
    atomic_store(&raw->server->state, SEG_OPEN);
    status = control_send(&raw->control, &detach, CTL_DETACH, sizeof(detach), raw->grant.cookie,
                          test_deadline(ASK_MS), message);
    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "detaching: %s", message);
    CHECK_WITHIN(ASK_MS, atomic_load(&raw->server->state) == SEG_CLOSED);
    raw_drop(raw);
}

void raw_bell(const struct raw_client *raw)
{
    mq_send(raw->bell, (const char *)&raw->info.slot, BELL_MESSAGE_SIZE, 0);
}

void raw_signal(struct raw_client *raw, unsigned bit)
{
    atomic_fetch_or(&raw->client->activity, UINT64_C(1) << bit);
    raw_bell(raw);
}

void raw_push(struct raw_client *raw, unsigned stream, const void *record, uint32_t size)
{
    unsigned char *ring = raw->segment + SEG_OFF_RINGS + stream * SEG_RING_BYTES;
    uint32_t pad = ring_pad(raw->tail[stream], size);

    if (pad != 0) {
        struct rec_header header = {.op = REC_PAD, .size = pad};
        memcpy(ring + ring_offset(raw->tail[stream]), &header, sizeof(header));
        raw->tail[stream] += pad;
    }
    memcpy(ring + ring_offset(raw->tail[stream]), record, size);
    raw->tail[stream] += size;
    atomic_store(&raw->client->tail[stream], raw->tail[stream]);
    raw_signal(raw, stream);
}

bool raw_open(const struct raw_client *raw)
{
    return atomic_load(&raw->server->state) == SEG_OPEN;
}

gs_status raw_ask(struct raw_client *raw, struct raw_request *request)
{
    struct seg_request *slot = raw->request;
    gs_status status;

    slot->op = request->op;
    memcpy(slot->arg, request->arg, sizeof(slot->arg));
    memset(slot->name, 0, sizeof(slot->name));
    if (request->name != NULL)
        memcpy(slot->name, request->name, strnlen(request->name, sizeof(slot->name) - 1));
    atomic_store(&slot->state, REQ_POSTED);
    raw_signal(raw, SEG_REQUEST_BIT);
    CHECK_WITHIN(ASK_MS, atomic_load(&slot->state) == REQ_DONE || !raw_open(raw));
    if (atomic_load(&slot->state) != REQ_DONE)
        return GS_ERR_SERVER_LOST;
    status = (gs_status)slot->status;
    memcpy(request->ret, slot->ret, sizeof(request->ret));
    atomic_store(&slot->state, REQ_IDLE);
    return status;
}

static const char nothing_ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry nothing(.param .u64 a, .param .u32 b)\n"
                                  "{\n  ret;\n}\n";

void raw_belongings_get(struct raw_client *raw, struct raw_belongings *b)
{
    struct raw_request request = {.op = REQ_MALLOC, .arg = {8192}};
    void *block;

    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    *b = (struct raw_belongings){.memory = request.ret[0], .memory_size = 8192};
    request = (struct raw_request){.op = REQ_HOST_ALLOC, .arg = {4096, 1}};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    b->block = (uint32_t)request.ret[0];
    block = shmat((int)request.ret[1], NULL, 0);
    CHECK(block != (void *)-1);
    memcpy(block, nothing_ptx, sizeof(nothing_ptx));
    shmdt(block);
    request = (struct raw_request){.op = REQ_MODULE_LOAD, .arg = {b->block, sizeof(nothing_ptx)}};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    request =
        (struct raw_request){.op = REQ_KERNEL_GET, .arg = {request.ret[0]}, .name = "nothing"};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    b->kernel = (uint32_t)request.ret[0];
    request = (struct raw_request){.op = REQ_STREAM_CREATE};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
}
