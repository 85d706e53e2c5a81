/*
 * Where a box of a tensor may begin, for copies in, copies out, reductions and prefetches
 * (cp.async.bulk.tensor and its kin): no document says it. A fault ends the context, so each case
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
}
