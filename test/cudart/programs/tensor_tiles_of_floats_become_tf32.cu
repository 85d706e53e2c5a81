// Floats that are read as TFLOAT32 are rounded to its ten bits, halves to even; infinities and NaNs stay.
#include "tensor_map.h"

namespace ptx = cuda::ptx;

enum { COUNT = 12 };

__global__ void load(const __grid_constant__ CUtensorMap map, unsigned *out)
{
    __shared__ alignas(128) unsigned tile[COUNT];
    __shared__ uint64_t barrier;

    expect(&barrier, sizeof(tile));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {0}, &barrier);
    come(&barrier);
    for (int i = 0; i < COUNT; i++)
        out[i] = tile[i];
}

int main()
{
    const unsigned of[COUNT] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000, 0xbf801001,
                                0xbf803000, 0x3fffefff, 0x3ffff000, 0x7f800000, 0xff800000, 0x40490fdb};
    unsigned *in, *out, got[COUNT];

    MUST(cudaMalloc(&in, sizeof(of)));
    MUST(cudaMalloc(&out, sizeof(of)));
    MUST(cudaMemcpy(in, of, sizeof(of), cudaMemcpyHostToDevice));
    load<<<1, 1>>>(map_of({CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 1, in, {COUNT}, {}, {COUNT}, {1}, CU_TENSOR_MAP_SWIZZLE_NONE}), out);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        printf("%08x%s", got[i], i + 1 < COUNT ? " " : "\n");
    //> 3f800000 3f800000 3f800000 3f802000 3f804000 bf802000 bf804000 3fffe000 40000000 7f800000 ff800000 40490000
}
