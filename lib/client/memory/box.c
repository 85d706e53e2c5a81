/*
 * box.c - see box.h.
 *
 * A box is one record if the device can reach both sides. Otherwise it goes tile by tile through
 * the staging chunks, packed. A tile is a number of whole slices if they are small, else of rows,
 * else a part of a row. As in copy.c, a copy holds its stream's lock from its beginning to its end.
 *
 * The server ends a session for an invalid box, so the client first checks all that the server
 * checks, and sets a message that says what is wrong.
 */
#include "client/memory/box.h"

#include "client/base/error.h"
#include "client/memory/bulk.h"
#include "client/memory/memory.h"
#include "client/submit/submit.h"
#include "client/submit/wait.h"

#define PITCH_MAX UINT64_C(0x7fffffff)
#define TEXEL_MAX 16u

typedef unsigned long long ull;

/* A side of the copy: the record's side for the box's first byte, and the address of host memory
 * that the device cannot reach. */
struct side {
    struct rec_box_side record;
    unsigned char *ordinary; /* NULL: `record` says where the memory is */
    uint64_t bytes;          /* from the first to the last, of device and host memory */
};

struct box {
    struct side dst, src;
    uint64_t width;
    uint64_t height, depth;
};

/* A part of the box: its origin within the box, and its size. */
struct tile {
    uint64_t x, y, z, width, height, depth;
};

/* ---- Checks ---------------------------------------------------------------------------------- */

static gs_status side_array(struct session *session, const gs_memcpy_3d_params *params,
                            const gs_memcpy_side *given, const char *what, struct side *side)
{
    const struct array *array = object_find(session, HANDLE_ARRAY, given->array);

    if (!array)
        return handle_unknown(handle_decode(given->array), "array");
    if (array->desc.levels)
        return error_set(GS_ERR_INVALID_VALUE,
                         "the %s is a mipmapped array: copy its levels (gs_array_level)", what);
    const uint64_t height = array->desc.height ? array->desc.height : 1;
    const uint64_t depth = array->desc.depth ? array->desc.depth : 1;
    const uint64_t texel = array->row / array->desc.width;
    if (given->x > array->row || params->width > array->row - given->x || given->y > height ||
        params->height > height - given->y || given->z > depth || params->depth > depth - given->z)
        return error_set(
            GS_ERR_INVALID_VALUE,
            "the %s's box of %zu bytes x %zu x %zu at %zu, %zu, %zu is beyond an array "
            "of %llu bytes x %llu x %llu",
            what, params->width, params->height, params->depth, given->x, given->y, given->z,
            (ull)array->row, (ull)height, (ull)depth);
    if (given->x % texel || params->width % texel)
        return error_set(
            GS_ERR_INVALID_VALUE,
            "the %s's box begins at byte %zu of a row or is %zu bytes wide; a texel of "
            "the array has %llu bytes",
            what, given->x, params->width, (ull)texel);
    side->record = (struct rec_box_side){.memory = REC_BOX_ARRAY,
                                         .object = array->id,
                                         .at = given->x,
                                         .pitch = given->y,
                                         .rows = given->z};
    return GS_OK;
}

#define NO_ROOM UINT64_MAX

/* a * b + c, or NO_ROOM. */
static uint64_t times_plus(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result;

    return __builtin_mul_overflow(a, b, &result) || __builtin_add_overflow(result, c, &result)
               ? NO_ROOM
               : result;
}

/* Sets pitch, rows and extent of a side in device or host memory, and *offset to the offset of the
 * box's first byte. */
static gs_status side_rows(const gs_memcpy_3d_params *params, const gs_memcpy_side *given,
                           const char *what, struct side *side, uint64_t *offset)
{
    const uint64_t across = times_plus(given->x, 1, params->width);
    const uint64_t down = times_plus(given->y, 1, params->height);
    const uint64_t pitch = given->pitch ? given->pitch : across;
    const uint64_t rows = given->rows ? given->rows : down;

    if (pitch > PITCH_MAX || across > pitch)
        return error_set(GS_ERR_INVALID_VALUE,
                         "the %s's pitch is %llu; the box needs %llu bytes of a row, and the "
                         "longest is %llu",
                         what, (ull)pitch, (ull)across, (ull)PITCH_MAX);
    if (down > rows && params->depth > 1)
        return error_set(GS_ERR_INVALID_VALUE,
                         "the %s has %llu rows in a slice; the box needs %llu", what, (ull)rows,
                         (ull)down);
    side->record.pitch = pitch;
    side->record.rows = rows > params->height ? rows : params->height;
    *offset = times_plus(times_plus(given->z, rows, given->y), pitch, given->x);
    side->bytes = times_plus(times_plus(side->record.rows, params->depth - 1, params->height - 1),
                             pitch, params->width);
    if (*offset == NO_ROOM || side->bytes == NO_ROOM ||
        times_plus(*offset, 1, side->bytes) == NO_ROOM)
        return error_set(GS_ERR_INVALID_VALUE, "the %s's box is larger than any memory", what);
    return GS_OK;
}

static gs_status side_host(struct session *session, const gs_memcpy_side *given, uint64_t offset,
                           struct side *side)
{
    unsigned char *host = (unsigned char *)given->host + offset;
    enum host_kind kind;
    gs_status status =
        memory_host_find(session, host, side->bytes, &kind, &side->record.object, &side->record.at);

    side->record.memory = REC_BOX_HOST;
    if (status == GS_OK && kind == HOST_ORDINARY)
        side->ordinary = host;
    return status;
}

static gs_status side_take(struct session *session, const gs_memcpy_3d_params *params,
                           const gs_memcpy_side *given, const char *what, struct side *side)
{
    uint64_t offset = 0;
    gs_status status;

    if (given->array)
        return side_array(session, params, given, what, side);
    if (!given->device && !given->host)
        return error_set(GS_ERR_INVALID_VALUE, "the %s is neither array nor memory", what);
    status = side_rows(params, given, what, side, &offset);
    if (status != GS_OK)
        return status;
    if (!given->device)
        return side_host(session, given, offset, side);
    side->record.memory = REC_BOX_DEVICE;
    side->record.at = given->device + offset;
    return memory_check(session, side->record.at, side->bytes, what);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Returns the record's side for a tile. */
static struct rec_box_side side_of(const struct side *side, const struct tile *tile)
{
    struct rec_box_side record = side->record;

    if (record.memory == REC_BOX_ARRAY) {
        record.at += tile->x;
        record.pitch += tile->y;
        record.rows += tile->z;
    } else {
        record.at += (tile->z * record.rows + tile->y) * record.pitch + tile->x;
    }
    return record;
}

static gs_status box_record(struct session *session, struct stream *stream, const struct tile *tile,
                            const struct rec_box_side *dst, const struct rec_box_side *src)
{
    struct rec_box *record;
    gs_status status = stream_reserve(session, stream, sizeof(*record), (void **)&record);

    if (status != GS_OK)
        return status;
    *record = (struct rec_box){
        .h = {.op = REC_BOX, .size = sizeof(*record)},
        .height = (uint32_t)tile->height,
        .depth = (uint32_t)tile->depth,
        .width = tile->width,
        .dst = *dst,
        .src = *src,
    };
    stream_commit(session, stream, sizeof(*record));
    return GS_OK;
}

/* ---- Ordinary memory ------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the largest tile at `at` that fits a chunk of `room` bytes. */
static struct tile tile_cut(const struct box *box, struct tile at, uint64_t room)
{
    at.width = box->width;
    at.height = at.depth = 1;
    if (box->width > room)
        at.width = least(box->width - at.x, room / TEXEL_MAX * TEXEL_MAX);
    else if (box->height > room / box->width)
        at.height = least(box->height - at.y, room / box->width);
    else {
        at.height = box->height;
        at.depth = least(box->depth - at.z, room / (box->width * box->height));
    }
    return at;
}

/* Moves `at` behind the tile. Returns false at the end of the box. */
static bool tile_next(const struct box *box, struct tile *at, const struct tile *tile)
{
    at->x += tile->width;
    if (at->x < box->width)
        return true;
    at->x = 0;
    at->y += tile->height;
    if (at->y < box->height)
        return true;
    at->y = 0;
    at->z += tile->depth;
    return at->z < box->depth;
}

/* Copies a tile's rows between a chunk, where they are packed, and ordinary memory. */
static void tile_move(const struct side *side, const struct tile *tile, unsigned char *chunk,
                      enum bulk_way way, uint64_t total)
{
    const uint64_t pitch = side->record.pitch;
    unsigned char *at = side->ordinary + (tile->z * side->record.rows + tile->y) * pitch + tile->x;

    for (uint64_t z = 0; z < tile->depth; z++) {
        for (uint64_t y = 0; y < tile->height; y++) {
            unsigned char *row = at + (z * side->record.rows + y) * pitch;
            if (way == BULK_IN)
                bulk_copy(way, chunk, row, tile->width, total);
            else
                bulk_copy(way, row, chunk, tile->width, total);
            chunk += tile->width;
        }
    }
}

static gs_status tile_stage(struct session *session, struct stream *stream, struct staging *staging,
                            const struct box *box, const struct tile *tile)
{
    const bool in = box->src.ordinary;
    uint32_t chunk;
    gs_status status = staging_take(session, staging, true, &chunk);

    if (status != GS_OK)
        return status;
    unsigned char *memory = staging->base + (uint64_t)chunk * staging->chunk_bytes;
    const struct rec_box_side packed = {.memory = REC_BOX_HOST,
                                        .object = staging->block,
                                        .at = (uint64_t)chunk * staging->chunk_bytes,
                                        .pitch = tile->width,
                                        .rows = tile->height};
    const struct rec_box_side other = side_of(in ? &box->dst : &box->src, tile);
    /* Rows by themselves are too short for the streaming stores of large copies. */
    if (in)
        tile_move(&box->src, tile, memory, BULK_IN, tile->width);
    status = in ? box_record(session, stream, tile, &other, &packed)
                : box_record(session, stream, tile, &packed, &other);
    if (status == GS_OK && !in) {
        status = wait_position(session, stream->number, stream->tail);
        if (status == GS_OK)
            tile_move(&box->dst, tile, memory, BULK_OUT, tile->width);
    }
    staging_give(staging, chunk, stream->number, stream->tail);
    return status;
}

static gs_status box_staged(struct session *session, struct stream *stream, const struct box *box)
{
    const bool small = times_plus(box->width, box->height * box->depth, 0) <= STAGING_SMALL_CHUNK;
    struct staging *staging =
        small ? &session->memory->staging_small : &session->memory->staging_large;
    struct tile at = {0}, tile;
    gs_status status = staging_prepare(session, staging);
    bool more = true;

    while (status == GS_OK && more) {
        tile = tile_cut(box, at, staging->chunk_bytes);
        status = tile_stage(session, stream, staging, box, &tile);
        more = tile_next(box, &at, &tile);
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Submits the copy. The caller holds the stream's lock, which keeps the array and host blocks
 * alive. */
static gs_status box_queue(struct session *session, struct stream *stream,
                           const gs_memcpy_3d_params *params)
{
    struct box box = {.width = params->width, .height = params->height, .depth = params->depth};
    const struct tile whole = {
        .width = params->width, .height = params->height, .depth = params->depth};
    gs_status status = side_take(session, params, &params->dst, "destination", &box.dst);

    if (status == GS_OK)
        status = side_take(session, params, &params->src, "source", &box.src);
    if (status != GS_OK)
        return status;
    if (box.dst.record.memory == REC_BOX_HOST && box.src.record.memory == REC_BOX_HOST)
        return error_set(GS_ERR_INVALID_VALUE, "both sides of the box are host memory");
    if (params->height > UINT32_MAX || params->depth > UINT32_MAX)
        return error_set(GS_ERR_INVALID_VALUE, "a box of %zu x %zu rows; the most is 2^32 - 1",
                         params->height, params->depth);
    if (box.dst.ordinary || box.src.ordinary)
        return box_staged(session, stream, &box);
    return box_record(session, stream, &whole, &box.dst.record, &box.src.record);
}

gs_status box_copy(struct session *session, gs_stream handle, const gs_memcpy_3d_params *params,
                   bool wait)
{
    struct stream *stream;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    status = stream_not_recording(stream, "a copy of a box");
    if (status == GS_OK && params->width && params->height && params->depth)
        status = box_queue(session, stream, params);
    return stream_finish(session, stream, status, wait);
}
