/*
 * table.c - see table.h.
 *
 * An unused row holds null objects, so that a kernel may name any row: null textures, which are all
 * zeros and which all sessions share, since nobody can write them, and null surfaces of the table's
 * own, which hold a texel that is written. A table lies outside of all windows, where fenced
 * kernels cannot write, and reading it tells them nothing. Until it is closed, only one session
 * uses a table; then the table is cleared for the next one. Tables are never freed, since that
 * waits for every kernel; there are as many as there were ever sessions with textures at the same
 * time.
 */
#include "worker/texture/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "worker/memory/driver_memory.h"
#include "worker/texture/array.h"

#define TABLE_BYTES (TEXTURE_ROWS * sizeof(struct texture_row))

/* The geometries. A null object of each is one texel large. */
static const struct geometry {
    enum texture_column texture, surface;
    size_t height, depth;
    unsigned flags;
} geometries[] = {
    {TEXTURE_1D, SURFACE_1D, 0, 0, 0},
    {TEXTURE_2D, SURFACE_2D, 1, 0, 0},
    {TEXTURE_3D, SURFACE_3D, 1, 1, 0},
    {TEXTURE_A1D, SURFACE_A1D, 0, 1, CUDA_ARRAY3D_LAYERED},
    {TEXTURE_A2D, SURFACE_A2D, 1, 1, CUDA_ARRAY3D_LAYERED},
    {TEXTURE_CUBE, TEXTURE_NO_COLUMN, 1, 6, CUDA_ARRAY3D_CUBEMAP},
    {TEXTURE_ACUBE, TEXTURE_NO_COLUMN, 1, 6, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
};

#define GEOMETRIES ARRAY_SIZE(geometries)

struct texture_table {
    struct texture_table *next; /* the next table without a session */
    CUdeviceptr address;
    struct array shown[GEOMETRIES]; /* the arrays of the null surfaces */
    struct texture_row null;        /* a row of null objects */
};

static struct {
    pthread_mutex_t lock;
    struct array shown[GEOMETRIES]; /* the arrays of the null textures */
    struct texture_row null;        /* the null textures that have been made */
    struct texture_table *spare;
} tables = {.lock = PTHREAD_MUTEX_INITIALIZER};

static_assert(SEG_TEXTURES <= TEXTURE_ROWS, "each texture has a row");

/* ---- Null objects ---------------------------------------------------------------------------- */

/* Makes an array of one texel, or six for a cube, unless there is one already, and clears it. */
static CUresult shown_make(struct array *shown, const struct geometry *geometry, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 1,
                                          .Height = geometry->height,
                                          .Depth = geometry->depth,
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                          .NumChannels = 4,
                                          .Flags = geometry->flags | flags};
    CUresult result = shown->cu ? CUDA_SUCCESS : DRV(cuArray3DCreate_v2, &shown->cu, &desc);

    shown->row = 4 * sizeof(uint32_t);
    shown->height = 1;
    shown->depth = geometry->depth ? geometry->depth : 1;
    return result ? result : array_zero(shown);
}

/* Makes the null textures. One that cannot be made is tried again for the next table. The caller
 * holds the lock. */
static CUresult null_textures_make(void)
{
    /* a cube has only normalized coordinates */
    const CUDA_TEXTURE_DESC desc = {.flags =
                                        CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES};
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < GEOMETRIES && !result; i++) {
        uint64_t *null = &tables.null.object[geometries[i].texture];
        CUtexObject made = 0;
        if (*null)
            continue;
        result = shown_make(&tables.shown[i], &geometries[i],
                            geometries[i].texture == TEXTURE_2D ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
        const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                             .res.array.hArray = tables.shown[i].cu};
        if (!result)
            result = DRV(cuTexObjectCreate, &made, &resource, &desc, NULL);
        *null = made;
    }
    tables.null.object[TEXTURE_LINE] = tables.null.object[TEXTURE_1D];
    tables.null.object[TEXTURE_ANY] = tables.null.object[TEXTURE_1D];
    return result;
}

static CUresult null_surfaces_make(struct texture_table *table)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < GEOMETRIES && !result; i++) {
        uint64_t *null = &table->null.object[geometries[i].surface];
        CUsurfObject made = *null;
        if (geometries[i].surface == TEXTURE_NO_COLUMN)
            continue;
        result = shown_make(&table->shown[i], &geometries[i], CUDA_ARRAY3D_SURFACE_LDST);
        const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                             .res.array.hArray = table->shown[i].cu};
        if (!result && !made)
            result = DRV(cuSurfObjectCreate, &made, &resource);
        *null = made;
    }
    table->null.object[SURFACE_ANY] = table->null.object[SURFACE_1D];
    return result;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static CUresult rows_write(const struct texture_table *table, uint32_t first,
                           const struct texture_row *rows, uint32_t count)
{
    CUresult result = DRV(cuMemcpyHtoDAsync_v2, table->address + first * sizeof(struct texture_row),
                          rows, count * sizeof(struct texture_row), service_stream());

    return result ? result : DRV(cuStreamSynchronize, service_stream());
}

/* Completes a table with surfaces and memory, and sets all rows to null objects. */
static CUresult table_make(struct texture_table *table)
{
    CLEANUP_FREE struct texture_row *rows = calloc(TEXTURE_ROWS, sizeof(*rows));
    CUresult result = rows ? null_surfaces_make(table) : CUDA_ERROR_OUT_OF_MEMORY;

    if (!result && !table->address)
        result = DRV(cuMemAlloc_v2, &table->address, TABLE_BYTES);
    if (result)
        return result;
    for (uint32_t i = 0; i < TEXTURE_ROWS; i++)
        rows[i] = table->null;
    return rows_write(table, 0, rows, TEXTURE_ROWS);
}

static void table_put_back(struct texture_table *table)
{
    pthread_mutex_lock(&tables.lock);
    table->next = tables.spare;
    tables.spare = table;
    pthread_mutex_unlock(&tables.lock);
}

/* Takes a spare table, or makes an empty one. Its rows are not set yet. */
static CUresult table_take(struct texture_table **out)
{
    uint64_t textures[TEXTURE_ACUBE + 1];
    CUresult result;

    pthread_mutex_lock(&tables.lock);
    result = null_textures_make();
    memcpy(textures, tables.null.object, sizeof(textures));
    if (!result && (*out = tables.spare))
        tables.spare = (*out)->next;
    pthread_mutex_unlock(&tables.lock);
    if (!result && !*out && !(*out = calloc(1, sizeof(**out))))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!result)
        memcpy((*out)->null.object, textures, sizeof(textures));
    return result;
}

gs_status texture_table_open(struct job *job)
{
    struct texture_table *table = NULL;
    CUresult result;

    if (job->session->texture.table)
        return GS_OK;
    if (!array_calls_found() || !cu->cuTexObjectCreate || !cu->cuSurfObjectCreate)
        return job_fail(job, GS_ERR_NOT_SUPPORTED, "the driver has no calls for textures");
    result = table_take(&table);
    if (result)
        return job_fail_driver(job, result);
    result = table_make(table);
    if (!result) {
        job->session->texture.table = table;
        driver_memory_adopt(job->session, TABLE_BYTES);
        return GS_OK;
    }
    table_put_back(table);
    return job_fail_driver(job, result);
}

void texture_table_deinit(struct session *session)
{
    if (session->texture.table)
        table_put_back(session->texture.table);
    session->texture.table = NULL;
}

CUdeviceptr texture_table_address(const struct session *session)
{
    return session->texture.table->address;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

CUresult texture_table_put(struct session *session, uint32_t row, uint64_t object,
                           enum texture_column column)
{
    const struct texture_table *table = session->texture.table;
    struct texture_row to = table->null;

    to.object[column < SURFACE_ANY ? TEXTURE_ANY : SURFACE_ANY] = object;
    to.object[column] = object;
    if (column == TEXTURE_1D)
        to.object[TEXTURE_LINE] = object;
    return rows_write(table, row, &to, 1);
}

CUresult texture_table_remove(struct session *session, uint32_t row)
{
    const struct texture_table *table = session->texture.table;

    return rows_write(table, row, &table->null, 1);
}
