// Thrust's scans and reductions.
#include "answers.h"
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>

constexpr size_t count = 5003;

template <class T> struct is_five {
    __host__ __device__ bool operator()(T x) const { return x == (T)5; }
};
template <class T> struct thrice {
    __host__ __device__ T operator()(T x) const { return (T)(3 * x); }
};

template <class T> struct sums {
    static void run()
    {
        const std::vector<T> a = values<T>(count), b = values<T>(count, 50, 2);
        std::vector<T> keys = values<T>(count, 7, 3), answer(count), answer_keys;
        std::sort(keys.begin(), keys.end());
        const thrust::device_vector<T> da = a, db = b, dkeys = keys;
        thrust::device_vector<T> got(count), got_keys(count);

        thrust::inclusive_scan(da.begin(), da.end(), got.begin(), thrust::maximum<T>());
        std::inclusive_scan(a.begin(), a.end(), answer.begin(), [](T x, T y) { return std::max(x, y); });
        expect("inclusive_scan", got, answer);

        thrust::exclusive_scan(da.begin(), da.end(), got.begin(), (T)1);
        std::exclusive_scan(a.begin(), a.end(), answer.begin(), (T)1, std::plus<T>());
        expect("exclusive_scan", got, answer);

        thrust::inclusive_scan_by_key(dkeys.begin(), dkeys.end(), da.begin(), got.begin());
        for (size_t i = 0; i < count; i++)
            answer[i] = i && keys[i] == keys[i - 1] ? (T)(answer[i - 1] + a[i]) : a[i];
        expect("inclusive_scan_by_key", got, answer);

        expect("reduce", thrust::reduce(da.begin(), da.end(), (T)0, thrust::plus<T>()),
               std::accumulate(a.begin(), a.end(), (T)0, std::plus<T>()));
        expect("transform_reduce", thrust::transform_reduce(da.begin(), da.end(), thrice<T>(), (T)0, thrust::plus<T>()),
               std::transform_reduce(a.begin(), a.end(), (T)0, std::plus<T>(), thrice<T>()));
        expect("inner_product", thrust::inner_product(da.begin(), da.end(), db.begin(), (T)0),
               std::inner_product(a.begin(), a.end(), b.begin(), (T)0));
        expect("count_if", (int64_t)thrust::count_if(da.begin(), da.end(), is_five<T>()),
               (int64_t)std::count_if(a.begin(), a.end(), is_five<T>()));
        expect("max_element", (int64_t)(thrust::max_element(da.begin(), da.end()) - da.begin()),
               (int64_t)(std::max_element(a.begin(), a.end()) - a.begin()));

        answer.clear();
        for (size_t i = 0; i < count; i++) {
            if (!i || keys[i] != keys[i - 1]) {
                answer_keys.push_back(keys[i]);
                answer.push_back(0);
            }
            answer.back() = (T)(answer.back() + a[i]);
        }
        auto end = thrust::reduce_by_key(dkeys.begin(), dkeys.end(), da.begin(), got_keys.begin(), got.begin());
        got_keys.resize((size_t)(end.first - got_keys.begin()));
        got.resize((size_t)(end.second - got.begin()));
        expect("reduce_by_key's keys", got_keys, answer_keys);
        expect("reduce_by_key", got, answer);
    }
};

int main()
{
    each<sums, uint8_t, int32_t, double>();
    return wrong;
}
