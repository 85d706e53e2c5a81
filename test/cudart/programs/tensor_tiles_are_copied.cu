// Tiles of tensors come into shared memory and go out again; what lies outside of the tensor is zero, and stays as it is.
// Each row of a tile begins at a multiple of 16 bytes, and a store not before the tensor: an H200 ends all else.
#include "tensor_map.h"

namespace ptx = cuda::ptx;

enum { TILE = 64 };

template <int RANK>
__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, int z, unsigned bytes, int *out, bool *complete)
{
    __shared__ alignas(128) int tile[TILE];
    __shared__ uint64_t barrier;

    for (int i = 0; i < TILE; i++)
        tile[i] = -1;
    expect(&barrier, bytes);
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    if constexpr (RANK == 1) {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {x}, &barrier);
    } else if constexpr (RANK == 2) {
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(x), "r"(y) : "memory");
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {x, y}, &barrier);
    } else {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, {x, y, z}, &barrier);
    }
    *complete = come(&barrier);
    for (int i = 0; i < TILE; i++)
        out[i] = tile[i];
}

__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y)
{
    __shared__ alignas(128) int tile[TILE];

    for (int i = 0; i < TILE; i++)
        tile[i] = 1000 + i;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, {x, y}, tile);
    finish();
}

static int *in, *out, got[TILE], host[512];
static bool *complete;

/* How many of the first COUNT elements are not as WANT has them, or 1000 where the barrier did not see all bytes. */
template <int RANK, typename WANT> static int wrong(const CUtensorMap &map, int x, int y, int z, int count, WANT want)
{
    int n = 0;
    bool done;

    load<RANK><<<1, 1>>>(map, x, y, z, count * sizeof(int), out, complete);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&done, complete, sizeof(done), cudaMemcpyDeviceToHost));
    for (int i = 0; i < TILE; i++)
        n += got[i] != (i < count ? want(i) : -1);
    return done ? n : 1000;
}

int main()
{
    MUST(cudaMalloc(&in, sizeof(host)));
    MUST(cudaMalloc(&out, sizeof(got)));
    MUST(cudaMalloc(&complete, sizeof(*complete)));
    for (int i = 0; i < 512; i++)
        host[i] = i;
    MUST(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));

    /* Six rows of twelve, 16 apart, and tiles of four rows of eight. */
    const CUtensorMap matrix =
        map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 2, in, {12, 6}, {64}, {8, 4}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE});
    auto element = [](int x, int y) { return x < 0 || x >= 12 || y < 0 || y >= 6 ? 0 : y * 16 + x; };
    const int inside = wrong<2>(matrix, 4, 1, 0, 32, [&](int i) { return element(4 + i % 8, 1 + i / 8); });
    const int corner = wrong<2>(matrix, 8, 4, 0, 32, [&](int i) { return element(8 + i % 8, 4 + i / 8); });
    const int before = wrong<2>(matrix, -4, -2, 0, 32, [&](int i) { return element(-4 + i % 8, -2 + i / 8); });
    const int nothing = wrong<2>(matrix, 100, -100, 0, 32, [&](int) { return 0; });
    HOLDS(inside == 0);  //> inside == 0: yes
    HOLDS(corner == 0);  //> corner == 0: yes
    HOLDS(before == 0);  //> before == 0: yes
    HOLDS(nothing == 0); //> nothing == 0: yes

    /* Of five planes of six rows of eight: one row of two, one plane of three. */
    const CUtensorMap volume =
        map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 3, in, {8, 6, 5}, {32, 192}, {4, 4, 4}, {1, 2, 3}, CU_TENSOR_MAP_SWIZZLE_NONE});
    const int steps = wrong<3>(volume, 4, 1, 1, 16, [](int i) { return 4 + i % 4 + 8 * (1 + 2 * (i / 4 % 2)) + 48 * (1 + 3 * (i / 8)); });
    const int beyond = wrong<3>(volume, 4, 4, 1, 16, [](int i) { return i / 4 % 2 ? 0 : 4 + i % 4 + 8 * 4 + 48 * (1 + 3 * (i / 8)); });
    HOLDS(steps == 0);  //> steps == 0: yes
    HOLDS(beyond == 0); //> beyond == 0: yes

    const CUtensorMap line = map_of({CU_TENSOR_MAP_DATA_TYPE_INT32, 1, in, {500}, {}, {16}, {1}, CU_TENSOR_MAP_SWIZZLE_NONE});
    const int end = wrong<1>(line, 492, 0, 0, 16, [](int i) { return 492 + i < 500 ? 492 + i : 0; });
    HOLDS(end == 0); //> end == 0: yes

    store<<<1, 1>>>(matrix, 8, 4);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    int changed[512], stray = 0;
    MUST(cudaMemcpy(changed, in, sizeof(changed), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 512; i++) {
        const int x = i % 16, y = i / 16;
        int want = i;

        if (x >= 8 && x < 12 && y >= 4 && y < 6)
            want = 1000 + (y - 4) * 8 + x - 8;
        stray += changed[i] != want;
    }
    HOLDS(stray == 0); //> stray == 0: yes
}
