// CUB's and Thrust's sorts, histograms, runs and segments.
#include "answers.h"
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <thrust/sort.h>

constexpr int count = 4001;

/* CUB's calls are made twice: the first one tells how much memory the second one needs. */
template <class Call> void with_memory(Call call)
{
    size_t bytes = 0;
    call((void *)nullptr, bytes);
    thrust::device_vector<char> memory(bytes);
    call((void *)thrust::raw_pointer_cast(memory.data()), bytes);
}
template <class T> T *raw(thrust::device_vector<T> &v)
{
    return thrust::raw_pointer_cast(v.data());
}

template <class T> struct downwards {
    __host__ __device__ bool operator()(T x, T y) const { return y < x; }
};

template <class T> struct radix {
    static void run()
    {
        std::vector<T> a = values<T>(count, 20000), b = values<T>(60, 20000);
        thrust::device_vector<T> got = a, few = b;
        thrust::sort(got.begin(), got.end());
        std::sort(a.begin(), a.end());
        expect("sort", got, a);
        thrust::sort(few.begin(), few.end());
        std::sort(b.begin(), b.end());
        expect("sort of few", few, b);
    }
};

template <class T> struct comparing {
    static void run()
    {
        std::vector<T> a = values<T>(count, 200);
        thrust::device_vector<T> got = a;
        thrust::stable_sort(got.begin(), got.end(), downwards<T>());
        std::stable_sort(a.begin(), a.end(), downwards<T>());
        expect("stable_sort", got, a);
    }
};

template <class T> struct runs {
    static void run()
    {
        std::vector<T> a = values<T>(count, 3), answer;
        std::vector<int> lengths, bins(16), offsets{0, 700, 700, 1500, count};
        thrust::device_vector<T> da = a, got(count);
        thrust::device_vector<int> got_lengths(count), number(1), got_bins(16), doffsets = offsets;

        for (int i = 0; i < count; i++) {
            if (!i || a[i] != a[i - 1]) {
                answer.push_back(a[i]);
                lengths.push_back(0);
            }
            lengths.back()++;
            bins[(int)a[i]]++;
        }
        with_memory([&](void *memory, size_t &bytes) {
            cub::DeviceRunLengthEncode::Encode(memory, bytes, raw(da), raw(got), raw(got_lengths), raw(number), count);
        });
        got.resize(number[0]);
        got_lengths.resize(number[0]);
        expect("runs", got, answer);
        expect("lengths of runs", got_lengths, lengths);

        with_memory([&](void *memory, size_t &bytes) {
            cub::DeviceHistogram::HistogramEven(memory, bytes, raw(da), raw(got_bins), 17, (T)0, (T)16, count);
        });
        expect("histogram", got_bins, bins);

        thrust::device_vector<T> sums(4);
        answer.assign(4, 0);
        for (int s = 0; s < 4; s++)
            answer[s] = std::accumulate(a.begin() + offsets[s], a.begin() + offsets[s + 1], (T)0, std::plus<T>());
        with_memory([&](void *memory, size_t &bytes) {
            cub::DeviceSegmentedReduce::Sum(memory, bytes, raw(da), raw(sums), 4, raw(doffsets), raw(doffsets) + 1);
        });
        expect("segmented sum", sums, answer);
    }
};

template <class T> struct segments {
    static void run()
    {
        std::vector<T> a = values<T>(count, 200);
        std::vector<int> offsets{0, 5, 100, 100, count};
        thrust::device_vector<T> da = a, got(count);
        thrust::device_vector<int> doffsets = offsets;

        with_memory([&](void *memory, size_t &bytes) {
            cub::DeviceSegmentedSort::SortKeys(memory, bytes, raw(da), raw(got), count, 4, raw(doffsets), raw(doffsets) + 1);
        });
        for (int s = 0; s < 4; s++)
            std::sort(a.begin() + offsets[s], a.begin() + offsets[s + 1]);
        expect("segmented sort", got, a);
    }
};

int main()
{
    each<radix, uint8_t, float>();
    each<comparing, int16_t, int32_t, double>();
    each<runs, uint8_t, int32_t, float>();
    each<segments, int32_t>();
    return wrong;
}
