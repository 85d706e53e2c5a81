/*
 * Where a box of a tensor may begin, for copies in, copies out, reductions and prefetches
 * (cp.async.bulk.tensor and its kin), and what becomes of a map of zeros and of a box that leads out
 * of the block's shared memory: no document says it. A fault ends the context, so each case
 * is asked in a process of its own.
 *
 *     nvcc -std=c++17 -arch=sm_90 -Itest/cudart/programs -o tensor bench/driver_facts_tensor.cu
 */
#include "tensor_map.h"

#include <sys/wait.h>
#include <unistd.h>

namespace ptx = cuda::ptx;

enum op { IN, OUT, ADD, PREFETCH };

static const char *const op_names[] = {"copy in", "copy out", "reduction", "prefetch"};

/* A tensor of 8 rows of 512 bytes, a box of 4 rows of 32. */
__global__ void go(const __grid_constant__ CUtensorMap map, op op, int x, int y)
{
    __shared__ alignas(128) unsigned char box[128];
    __shared__ uint64_t barrier;

    for (unsigned i = 0; i < sizeof(box); i++)
        box[i] = 1;
    expect(&barrier, sizeof(box));
    if (op == IN)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map, {x, y}, &barrier);
    if (op == OUT)
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, {x, y}, box);
    if (op == ADD)
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, {x, y}, box);
    if (op == PREFETCH)
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(x), "r"(y)
                     : "memory");
    if (op == IN)
        come(&barrier);
    else
        finish();
}

static void ask(op op, CUtensorMapDataType type, unsigned size, CUtensorMapSwizzle swizzle, int x, int y)
{
    void *memory;

    if (fork()) {
        wait(NULL);
        return;
    }
    MUST(cudaMalloc(&memory, 8 * 512));
    go<<<1, 1>>>(map_of({type, 2, memory, {512 / size, 8}, {512}, {32 / size, 4}, {1, 1}, swizzle}), op, x, y);
    printf("%-9s  type %d of %u bytes, swizzle %d, from %5d (%6d bytes), %4d: %s\n", op_names[op], type, size, swizzle, x,
           x * (int)size, y, cudaGetErrorString(cudaDeviceSynchronize()));
    fflush(stdout);
    _exit(0);
}

/* A box of 8 KiB where a block has less, or where a map of zeros names nothing. */
__global__ void beyond(const __grid_constant__ CUtensorMap map, op op, unsigned at)
{
    extern __shared__ __align__(128) unsigned char box[];
    __shared__ uint64_t barrier;

    expect(&barrier, 8192);
    if (op == IN)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box + at, &map, {0, 0}, &barrier);
    else
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, {0, 0}, box + at);
    if (op == IN)
        come(&barrier);
    else
        finish();
}

static void ask_beyond(const char *what, op op, bool zeros, unsigned room, unsigned at)
{
    void *memory;
    CUtensorMap map = {};

    if (fork()) {
        wait(NULL);
        return;
    }
    MUST(cudaMalloc(&memory, 1 << 20));
    if (!zeros)
        map = map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, {256, 256}, {1024}, {32, 64}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE});
    beyond<<<1, 1, room>>>(map, op, at);
    printf("%-9s  %s: %s\n", op_names[op], what, cudaGetErrorString(cudaDeviceSynchronize()));
    fflush(stdout);
    _exit(0);
}

int main()
{
    static const struct {
        CUtensorMapDataType type;
        unsigned size;
    } types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1},   {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2},  {CU_TENSOR_MAP_DATA_TYPE_INT32, 4},
                 {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8},  {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2}, {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4},
                 {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8}};
    static const int corners[][2] = {{-4, 0}, {-32, 0}, {0, -1}, {0, -100}, {124, 0}, {128, 0}, {0, 7}, {0, 8}, {1000, 100}};

    for (int op = IN; op <= PREFETCH; op++) {
        for (auto t : types)
            for (int bytes = t.size; bytes <= 32 && (op != ADD || t.size > 2); bytes *= 2)
                ask((enum op)op, t.type, t.size, CU_TENSOR_MAP_SWIZZLE_NONE, bytes / (int)t.size, 0);
        for (int swizzle = 1; swizzle <= 3; swizzle++)
            ask((enum op)op, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, (CUtensorMapSwizzle)swizzle, 2, 0);
        for (auto corner : corners)
            ask((enum op)op, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, CU_TENSOR_MAP_SWIZZLE_NONE, corner[0], corner[1]);
    }
    for (int op = IN; op <= OUT; op++) {
        ask_beyond("a box of 8 KiB in 16", (enum op)op, false, 16384, 0);
        ask_beyond("a map of zeros", (enum op)op, true, 16384, 0);
        ask_beyond("a box of 8 KiB in 4", (enum op)op, false, 4096, 0);
        ask_beyond("a box of 8 KiB behind 16", (enum op)op, false, 16384, 16384);
        ask_beyond("a box of 8 KiB behind 200", (enum op)op, false, 16384, 200 << 10);
        ask_beyond("a box 16 bytes off", (enum op)op, false, 16384, 16);
    }
}
