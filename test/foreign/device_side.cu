// What kernels call of cooperative groups, cuRAND, libcu++ and CUB's blocks and warps.
/* cuRAND for the host too: the same generator there gives the answer. */
#define QUALIFIERS static inline __host__ __device__
#include "answers.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/std/complex>
#include <curand_kernel.h>

namespace cg = cooperative_groups;
constexpr int count = 256;

template <class T> __global__ void groups(const T *in, T *out)
{
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const T x = in[cg::this_grid().thread_rank()];
    out[cg::this_grid().thread_rank()] = cg::reduce(tile, x, cg::plus<T>()) + cg::inclusive_scan(tile, x);
}

template <class T> __global__ void blocks(const T *in, T *out)
{
    using scan = cub::BlockScan<T, count>;
    using sort = cub::BlockRadixSort<T, count, 1>;
    __shared__ union {
        typename scan::TempStorage scan;
        typename sort::TempStorage sort;
        typename cub::WarpReduce<T>::TempStorage warp;
    } memory;
    T x[1] = {in[threadIdx.x]}, before;
    sort(memory.sort).Sort(x);
    __syncthreads();
    scan(memory.scan).ExclusiveSum(x[0], before);
    out[threadIdx.x] = before;
}

template <class T> __global__ void atomics(const T *in, T *sum)
{
    cuda::atomic_ref<T, cuda::thread_scope_device>(*sum).fetch_add(in[threadIdx.x], cuda::memory_order_relaxed);
}

template <class T> __global__ void squares(const T *in, T *out)
{
    const cuda::std::complex<T> x(in[threadIdx.x], 1);
    out[threadIdx.x] = (x * x).real();
}

template <class State> __host__ __device__ uint32_t third(unsigned thread)
{
    State state;
    curand_init(1234, thread, 2, &state);
    return curand(&state);
}
template <class State> __global__ void generate(uint32_t *out)
{
    out[threadIdx.x] = third<State>(threadIdx.x);
}

template <class T> struct device_side {
    static void run()
    {
        const std::vector<T> a = values<T>(count);
        std::vector<T> answer(count), sorted = a;
        const thrust::device_vector<T> da = a;
        thrust::device_vector<T> got(count);
        const T *in = thrust::raw_pointer_cast(da.data());
        T *out = thrust::raw_pointer_cast(got.data());

        groups<T><<<2, count / 2>>>(in, out);
        for (int w = 0; w < count; w += 32) {
            const T sum = std::accumulate(a.begin() + w, a.begin() + w + 32, (T)0);
            std::partial_sum(a.begin() + w, a.begin() + w + 32, answer.begin() + w);
            for (int i = w; i < w + 32; i++)
                answer[i] += sum;
        }
        expect("cooperative groups", got, answer);

        blocks<T><<<1, count>>>(in, out);
        std::sort(sorted.begin(), sorted.end());
        std::exclusive_scan(sorted.begin(), sorted.end(), answer.begin(), (T)0);
        expect("a block's sort and scan", got, answer);

        got[0] = 0;
        atomics<T><<<1, count>>>(in, out);
        expect("atomic_ref", (T)got[0], std::accumulate(a.begin(), a.end(), (T)0));
    }
};

template <class T> struct of_floats {
    static void run()
    {
        const std::vector<T> a = values<T>(count);
        std::vector<T> answer(count);
        const thrust::device_vector<T> da = a;
        thrust::device_vector<T> got(count);

        squares<T><<<1, count>>>(thrust::raw_pointer_cast(da.data()), thrust::raw_pointer_cast(got.data()));
        for (int i = 0; i < count; i++)
            answer[i] = a[i] * a[i] - 1;
        expect("complex", got, answer);
    }
};

template <class State> struct generator {
    static void run()
    {
        std::vector<uint32_t> answer(count);
        thrust::device_vector<uint32_t> got(count);

        generate<State><<<1, count>>>(thrust::raw_pointer_cast(got.data()));
        for (unsigned i = 0; i < count; i++)
            answer[i] = third<State>(i);
        expect("cuRAND", got, answer);
    }
};

int main()
{
    each<device_side, int32_t, uint64_t, double>();
    each<of_floats, float, double>();
    each<generator, curandStatePhilox4_32_10_t, curandStateXORWOW_t>();
    return wrong;
}
