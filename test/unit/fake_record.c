/* fake_record.c - see fake_tenant.h: the device of the fake server, which computes at once. */
#include <stdatomic.h>
#include <string.h>

#include "common/ring.h"
#include "common/util.h"
#include "fake_server.h"
#include "fake_tenant.h"

static atomic_uint launch_flags;

unsigned fake_launch_flags(void)
{
    return atomic_load(&launch_flags);
}

static void launch_run(const struct rec_launch *launch)
{
    const unsigned char *params = (const unsigned char *)(launch + 1);
    uint64_t pointer, last;
    uint32_t value, count;

    atomic_store(&launch_flags, launch->h.flags);
    memcpy(&pointer, params, sizeof(pointer));
    if (launch->kernel == 1) {
        memcpy(&value, params + 8, sizeof(value));
        memcpy(&count, params + 12, sizeof(count));
        for (uint32_t i = 0; i < count; i++)
            ((uint32_t *)(uintptr_t)pointer)[i] = value;
    } else if (launch->kernel == 3) {
        memcpy(&last, params + REQ_PARAM_BYTES_MAX - 8, sizeof(last));
        memcpy((void *)(uintptr_t)pointer, &last, sizeof(last));
    }
}

static void report_publish(struct tenant *tenant, const struct rec_launch *launch)
{
    struct seg_report *report = &tenant->server->report[launch->report % SEG_REPORTS];
    uint64_t submitted;

    if (!launch->report)
        return;
    memcpy(&submitted,
           (const unsigned char *)launch + launch_record_time(launch->h.flags, launch->param_bytes),
           sizeof(submitted));
    report->queued_ns = clock_ns() - submitted;
    report->run_ns = 1000;
    report->sm_count = FAKE_SM_COUNT;
    report->priority = 0;
    /* release: pairs with gs_launch_report's acquire */
    atomic_store_explicit(&report->id, launch->report, memory_order_release);
}

static void copy_run(struct tenant *tenant, const struct rec_copy *copy)
{
    unsigned char *host = copy->kind == REC_DTOD ? NULL : tenant->block[copy->host].memory;

    if (copy->kind == REC_HTOD)
        memcpy((void *)(uintptr_t)copy->dst, host + copy->src, copy->bytes);
    else if (copy->kind == REC_DTOH)
        memcpy(host + copy->dst, (void *)(uintptr_t)copy->src, copy->bytes);
    else
        memmove((void *)(uintptr_t)copy->dst, (void *)(uintptr_t)copy->src, copy->bytes);
}

/* Runs a step as the launch's changes say, which are read from *change on. */
static void step_run(struct tenant *tenant, const unsigned char *recorded, uint32_t step,
                     const unsigned char **change, const unsigned char *end)
{
    _Alignas(REC_ALIGN) unsigned char bytes[REC_SIZE_MAX];
    struct rec_change c;
    bool off = false;

    memcpy(bytes, recorded, ((const struct rec_header *)(const void *)recorded)->size);
    for (; *change < end; *change += rec_change_size(c.bytes)) {
        memcpy(&c, *change, sizeof(c));
        if (c.step != step)
            break;
        memcpy(bytes + c.at, *change + sizeof(c), c.bytes);
        off = off || !c.bytes;
    }
    if (!off)
        fake_record_run(tenant, bytes);
}

static void graph_run(struct tenant *tenant, const struct rec_graph *graph)
{
    const unsigned char *change = (const unsigned char *)(graph + 1),
                        *end = change + graph->changes;
    uint32_t step = 0;

    for (uint64_t at = 0; at < tenant->graph[graph->graph].size;) {
        const unsigned char *record = tenant->graph[graph->graph].records + at;
        const struct rec_header *header = (const void *)record;

        if (header->op != REC_AFTER)
            step_run(tenant, record, step++, &change, end);
        at += header->size;
    }
    fake_must(change == end, "changes that are out of order");
}

bool fake_record_run(struct tenant *tenant, const unsigned char *bytes)
{
    const struct rec_header *header = (const struct rec_header *)bytes;
    const struct rec_memset *set = (const struct rec_memset *)bytes;
    const struct rec_wait *wait = (const struct rec_wait *)bytes;

    switch (header->op) {
    case REC_LAUNCH:
        launch_run((const struct rec_launch *)bytes);
        report_publish(tenant, (const struct rec_launch *)bytes);
        break;
    case REC_COPY:
        copy_run(tenant, (const struct rec_copy *)bytes);
        break;
    case REC_MEMSET:
        for (uint64_t at = 0; at < set->bytes; at += set->element)
            memcpy((char *)(uintptr_t)set->dst + at, &set->value, set->element);
        break;
    case REC_WAIT:
        return (int64_t)(tenant->head[wait->stream] - wait->position) >= 0;
    case REC_GRAPH:
        graph_run(tenant, (const struct rec_graph *)bytes);
        break;
    case REC_EVENT:
    case REC_PAD:
        break;
    default:
        fake_must(false, "a record of no known kind");
    }
    return true;
}
