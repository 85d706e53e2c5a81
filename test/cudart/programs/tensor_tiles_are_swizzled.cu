// A tile of rows as wide as its swizzle lies in shared memory with the 16 bytes of each row in another order.
#include "tensor_map.h"

namespace ptx = cuda::ptx;

enum { ROWS = 24, BYTES = ROWS * 128 };

/* Shared memory as it is, from an address that is SHIFT behind a multiple of 1,024, and that address. */
__global__ void load(const __grid_constant__ CUtensorMap map, unsigned shift, unsigned bytes, int *out, unsigned *address,
                     bool *complete)
{
    __shared__ alignas(1024) char memory[1024 + BYTES];
    __shared__ uint64_t barrier;
    char *tile = memory + shift;

    expect(&barrier, bytes);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {0, 1}, &barrier);
    *complete = come(&barrier);
    *address = (unsigned)__cvta_generic_to_shared(tile);
    for (unsigned i = 0; i < bytes / sizeof(int); i++)
        out[i] = ((int *)tile)[i];
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, {0, ROWS + 1}, tile);
    finish();
}

static int *in, *out;
static unsigned *address;
static bool *complete;

static int wrong(CUtensorMapSwizzle swizzle, unsigned width, unsigned mask, unsigned shift)
{
    const unsigned words = width / sizeof(int);
    const tensor rows = {CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, {words, 2 * ROWS + 1}, {width}, {words, ROWS}, {1, 1}, swizzle};
    int host[(2 * ROWS + 1) * 32], got[BYTES / sizeof(int)], n = 0;
    unsigned at;
    bool done;

    for (unsigned i = 0; i < (2 * ROWS + 1) * words; i++)
        host[i] = i;
    MUST(cudaMemcpy(in, host, (2 * ROWS + 1) * width, cudaMemcpyHostToDevice));
    load<<<1, 1>>>(map_of(rows), shift, ROWS * width, out, address, complete);
    MUST(cudaMemcpy(got, out, ROWS * width, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&at, address, sizeof(at), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&done, complete, sizeof(done), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < ROWS * words; i++) {
        const unsigned plain = at + i * sizeof(int), swizzled = plain ^ (plain >> 7 & mask) << 4;

        n += got[(swizzled - at) / sizeof(int)] != (int)(words + i);
    }
    /* What came in by a swizzle goes out by it in its own order. */
    MUST(cudaMemcpy(got, in + (ROWS + 1) * words, ROWS * width, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < ROWS * words; i++)
        n += got[i] != (int)(words + i);
    return done ? n : 100000;
}

int main()
{
    MUST(cudaMalloc(&in, (2 * ROWS + 1) * 128));
    MUST(cudaMalloc(&out, BYTES));
    MUST(cudaMalloc(&address, sizeof(*address)));
    MUST(cudaMalloc(&complete, sizeof(*complete)));
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_NONE, 128, 0, 0) == 0);   //> wrong(CU_TENSOR_MAP_SWIZZLE_NONE, 128, 0, 0) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_32B, 32, 1, 0) == 0);     //> wrong(CU_TENSOR_MAP_SWIZZLE_32B, 32, 1, 0) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_64B, 64, 3, 0) == 0);     //> wrong(CU_TENSOR_MAP_SWIZZLE_64B, 64, 3, 0) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_128B, 128, 7, 0) == 0);   //> wrong(CU_TENSOR_MAP_SWIZZLE_128B, 128, 7, 0) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_32B, 32, 1, 128) == 0);   //> wrong(CU_TENSOR_MAP_SWIZZLE_32B, 32, 1, 128) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_64B, 64, 3, 384) == 0);   //> wrong(CU_TENSOR_MAP_SWIZZLE_64B, 64, 3, 384) == 0: yes
    HOLDS(wrong(CU_TENSOR_MAP_SWIZZLE_128B, 128, 7, 640) == 0); //> wrong(CU_TENSOR_MAP_SWIZZLE_128B, 128, 7, 640) == 0: yes
}
