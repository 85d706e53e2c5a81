/* Any bytes as records of a stream, and as those of a recorded graph: what passes the worker's
 * checks names only what the session has. The session has two kernels, two host blocks, two
 * allocations and an array. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fake_driver.h"
#include "worker/session_parts.h"
#include "worker/submit/record.h"
#include "worker/texture/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ALLOCATIONS_AT  UINT64_C(0x10000)
#define ALLOCATION_SIZE UINT64_C(0x1000)
#define HOST_SIZE       UINT64_C(0x1000)

static struct session session;
static struct kernel kernels[] = {
    {.param_bytes = 16, .max_threads = 256, .max_dynamic_smem = 4096, .sm_threads = 2048},
    {.param_bytes = 0, .max_threads = 1024, .syncs_grid = true, .sm_threads = 2048}};
static struct kernel *kernel_table[] = {&kernels[0], NULL, &kernels[1]};
static unsigned char host_memory[2][HOST_SIZE];
static struct host_block hosts[2] = {{.memory = host_memory[0], .size = HOST_SIZE, .pinned = true},
                                     {.memory = host_memory[1], .size = 100, .pinned = false}};
static struct host_block *host_table[SEG_HOSTS];
static struct array array = {.row = 256, .texel = 4, .height = 8, .depth = 4};
static struct array *array_table[SEG_ARRAYS];

static CUresult attribute_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

static CUresult box_copy(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    (void)copy, (void)stream;
    return CUDA_SUCCESS;
}

static void session_fill(void)
{
    struct worker *w = worker_begin();

    for (unsigned i = 0; i < 3; i++) {
        w->info.max_grid_dim[i] = 65535;
        w->info.max_block_dim[i] = 1024;
    }
    fake_cu.cuFuncSetAttribute = attribute_set;
    fake_cu.cuMemcpy3DAsync_v2 = box_copy;
    session.kernels.table = kernel_table;
    session.kernels.capacity = sizeof(kernel_table) / sizeof(kernel_table[0]);
    host_table[0] = &hosts[0];
    host_table[7] = &hosts[1];
    session.memory.hosts = host_table;
    array_table[3] = &array;
    session.texture.arrays = array_table;
    if (!allocations_put(&session.memory.allocations, ALLOCATIONS_AT, ALLOCATION_SIZE, NULL) ||
        !allocations_put(&session.memory.allocations, 3 * ALLOCATIONS_AT, ALLOCATION_SIZE, NULL))
        abort();
}

/* Not as the worker's own check does it. */
static void device_must(uint64_t address, uint64_t bytes)
{
    const unsigned __int128 end = (unsigned __int128)address + bytes;

    if (!(address >= ALLOCATIONS_AT && end <= ALLOCATIONS_AT + ALLOCATION_SIZE) &&
        !(address >= 3 * ALLOCATIONS_AT && end <= 3 * ALLOCATIONS_AT + ALLOCATION_SIZE))
        abort();
}

static void host_must(const unsigned char *memory, uint64_t bytes)
{
    const uintptr_t begin = (uintptr_t)host_memory[0], at = (uintptr_t)memory;

    if (at < begin || at > begin + HOST_SIZE || bytes > begin + HOST_SIZE - at)
        abort();
}

static void transfer_must(const struct transfer *t)
{
    if (t->bytes == 0)
        abort();
    if (t->kind != TRANSFER_DTOH)
        device_must(t->dst, t->bytes);
    if (t->kind == TRANSFER_DTOH || t->kind == TRANSFER_DTOD)
        device_must(t->src, t->bytes);
    if (t->kind == TRANSFER_HTOD || t->kind == TRANSFER_DTOH)
        host_must(t->host, t->bytes);
}

/* The last byte of a box in memory, by the driver's own rule. */
static unsigned __int128 box_end(const CUDA_MEMCPY3D *c, uint64_t pitch, uint64_t rows)
{
    return ((unsigned __int128)(c->Depth - 1) * rows + c->Height - 1) * pitch + c->WidthInBytes;
}

static void side_must(const CUDA_MEMCPY3D *c, CUmemorytype type, const void *host,
                      CUdeviceptr device, uint64_t pitch, uint64_t rows, uint64_t x, uint64_t y,
                      uint64_t z)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        if (x + c->WidthInBytes > array.row || y + c->Height > array.height ||
            z + c->Depth > array.depth)
            abort();
        return;
    }
    const unsigned __int128 bytes = box_end(c, pitch, rows);
    if (bytes > ALLOCATION_SIZE)
        abort();
    if (type == CU_MEMORYTYPE_HOST)
        host_must(host, (uint64_t)bytes);
    else
        device_must(device, (uint64_t)bytes);
}

static void box_must(const CUDA_MEMCPY3D *c)
{
    side_must(c, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->srcHeight,
              c->srcXInBytes, c->srcY, c->srcZ);
    side_must(c, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->dstHeight,
              c->dstXInBytes, c->dstY, c->dstZ);
}

/* What a drain does with a record of `size` bytes, up to the driver. */
static void record_take(unsigned char *record, uint32_t size)
{
    struct rec_header header;
    struct launch launch = {0};
    struct transfer transfer;
    CUDA_MEMCPY3D copy;
    struct problem problem = {0};

    memcpy(&header, record, sizeof(header));
    switch (header.op) {
    case REC_LAUNCH:
        if (size >= sizeof(struct rec_launch) &&
            !record_check_launch(&session, record, size, &launch) &&
            (launch.params < record || launch.params + launch.kernel->param_bytes > record + size))
            abort();
        break;
    case REC_COPY:
        if (size == sizeof(struct rec_copy) &&
            !record_check_copy(&session, (const void *)record, &transfer))
            transfer_must(&transfer);
        break;
    case REC_MEMSET:
        if (size == sizeof(struct rec_memset) &&
            !record_check_memset(&session, (const void *)record, &transfer))
            transfer_must(&transfer);
        break;
    case REC_BOX:
        if (size == sizeof(struct rec_box) &&
            !record_check_box(&session, (const void *)record, &copy))
            box_must(&copy);
        break;
    case REC_GEMM:
        if (size == sizeof(struct rec_gemm))
            record_check_gemm(&session, (const void *)record, &problem);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!session.kernels.table)
        session_fill();
    for (size_t at = 0; size - at >= sizeof(struct rec_header);) {
        struct rec_header header;
        unsigned char *record;

        memcpy(&header, data + at, sizeof(header));
        if (header.size < REC_ALIGN || header.size % REC_ALIGN || header.size > size - at ||
            header.size > REC_SIZE_MAX)
            return 0;
        /* A copy with nothing behind it, as the sanitizer sees it. */
        if (posix_memalign((void **)&record, REC_ALIGN, header.size))
            return 0;
        memcpy(record, data + at, header.size);
        record_take(record, header.size);
        free(record);
        at += header.size;
    }
    return 0;
}
