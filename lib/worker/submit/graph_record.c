/*
 * graph_record.c - checks the records of a tenant's graph, and the changes that a launch makes to
 * them.
 *
 * A launch of a graph names the bytes of the records that are different in this launch, with their
 * values: arguments, a grid, what is copied. So a launch is complete in itself. It waits in its
 * ring with all that it needs, whatever changes other streams launch the graph with meanwhile, and
 * a next worker needs only the ring and the records. A changed record passes the same checks as a
 * record in a ring.
 */
#include "worker/submit/graph_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/jobs/job.h"
#include "worker/memory/host_block.h"

static uint32_t record_op(const unsigned char *record)
{
    return ((const struct rec_header *)(const void *)record)->op;
}

static uint32_t record_size(const unsigned char *record)
{
    return ((const struct rec_header *)(const void *)record)->size;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Finds the steps and stores where they begin; if `offset` is NULL, only counts them. */
static gs_status steps_find(struct job *job, struct graph_records *records, uint32_t *offset)
{
    records->steps = 0;
    for (uint64_t at = 0, size; at < records->bytes; at += size) {
        const unsigned char *record = records->memory + at;

        size = records->bytes - at < REC_ALIGN ? 0 : record_size(record);
        if (size < REC_ALIGN || size % REC_ALIGN || size > records->bytes - at ||
            size > REC_SIZE_MAX)
            return job_fail(job, GS_ERR_INVALID_VALUE,
                            "a record of a wrong size at byte %" PRIu64 " of a graph", at);
        if (record_op(record) == REC_AFTER)
            continue;
        if (records->steps == SEG_GRAPH_NODES)
            return job_fail(job, GS_ERR_LIMIT, "a graph of more than %u records", SEG_GRAPH_NODES);
        if (offset)
            offset[records->steps] = (uint32_t)at;
        records->steps++;
    }
    return GS_OK;
}

gs_status graph_records_init(struct job *job, struct graph_records *records, const void *bytes,
                             uint64_t size)
{
    *records = (struct graph_records){.memory = malloc(size ? size : 1), .bytes = size};
    if (!records->memory)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph of %" PRIu64 " bytes", size);
    memcpy(records->memory, bytes, size);
    if (steps_find(job, records, NULL) == GS_OK) {
        records->offset = malloc((records->steps + 1) * sizeof(*records->offset));
        if (records->offset)
            steps_find(job, records, records->offset);
        else
            job_fail(job, GS_ERR_NO_MEMORY, "no memory for a graph of %" PRIu64 " bytes", size);
    }
    if (job->status != GS_OK)
        graph_records_deinit(records);
    return job->status;
}

void graph_records_deinit(struct graph_records *records)
{
    free(records->memory);
    free(records->offset);
    *records = (struct graph_records){0};
}

record_refusal graph_step_check(const struct session *session, unsigned char *record,
                                struct graph_step *step)
{
    const struct rec_header *header = (const void *)record;

    step->is_launch = header->op == REC_LAUNCH;
    step->is_order = header->op == REC_AFTER;
    if (step->is_order)
        return header->size == sizeof(struct rec_after) &&
                       ((const struct rec_after *)(const void *)record)->count <= REC_AFTER_STEPS
                   ? NULL
                   : "an order of steps of a wrong size";
    if (step->is_launch) {
        if (((const struct rec_launch *)(const void *)record)->report ||
            header->flags & ~(REC_LAUNCH_PROGRAMMATIC | REC_LAUNCH_CLUSTER))
            return "a launch in a graph that is cooperative, or has a report or a qos of its own";
        return record_check_launch(session, record, header->size, &step->launch);
    }
    if (header->op == REC_COPY && header->size == sizeof(struct rec_copy))
        return record_check_copy(session, (const void *)record, &step->transfer);
    if (header->op == REC_MEMSET && header->size == sizeof(struct rec_memset))
        return record_check_memset(session, (const void *)record, &step->transfer);
    return "a record that a graph cannot hold";
}

uint64_t graph_step_serial(const struct session *session, const struct graph_step *step)
{
    if (step->is_order)
        return 0;
    if (step->is_launch)
        return step->launch.kernel->serial;
    return step->transfer.block == SEG_HOSTS ? 0
                                             : session->memory.hosts[step->transfer.block]->serial;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static struct rec_change change_at(const struct graph_changes *changes, uint32_t at)
{
    struct rec_change change;

    memcpy(&change, changes->bytes + at, sizeof(change));
    return change;
}

record_refusal graph_changes_check(const struct graph_records *records,
                                   const struct graph_changes *changes)
{
    uint32_t step = 0;

    for (uint32_t at = 0; at < changes->size;) {
        if (changes->size - at < sizeof(struct rec_change))
            return "a part of a change of a graph";
        const struct rec_change change = change_at(changes, at);

        if (change.step < step || change.step >= records->steps)
            return "a change of a step that its graph has not, or that is out of order";
        step = change.step;
        const uint32_t size = record_size(records->memory + records->offset[step]);
        if (rec_change_size(change.bytes) > changes->size - at)
            return "a part of a change of a graph";
        if (change.at > size || change.bytes > size - change.at ||
            (change.bytes && change.at < sizeof(struct rec_header)))
            return "a change beyond a step of a graph";
        at += rec_change_size(change.bytes);
    }
    return NULL;
}

uint32_t graph_change_step(const struct graph_changes *changes, uint32_t at)
{
    return at < changes->size ? change_at(changes, at).step : NO_STEP;
}

uint32_t graph_change_next(const struct graph_changes *changes, uint32_t at)
{
    return at + rec_change_size(change_at(changes, at).bytes);
}

uint32_t graph_change_apply(const struct graph_changes *changes, uint32_t at, unsigned char *record,
                            bool *off)
{
    const uint32_t step = graph_change_step(changes, at);

    *off = false;
    while (graph_change_step(changes, at) == step) {
        const struct rec_change change = change_at(changes, at);

        if (record)
            memcpy(record + change.at, changes->bytes + at + sizeof(change), change.bytes);
        *off |= !change.bytes;
        at = graph_change_next(changes, at);
    }
    return at;
}
