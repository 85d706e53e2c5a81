// Thrust's algorithms that keep some of the elements, and those of ordered sequences.
#include "answers.h"
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/set_operations.h>
#include <thrust/unique.h>

constexpr size_t count = 4001;

template <class T> struct odd {
    __host__ __device__ bool operator()(T x) const { return (int)x % 2; }
};

template <class T> struct choices {
    using vector = thrust::device_vector<T>;

    template <class I> static void expect_up_to(const char *what, vector &got, I end, std::vector<T> &answer, size_t length)
    {
        const std::vector<T> right(answer.begin(), answer.begin() + (long)length);
        expect(what, vector(got.begin(), end), right);
    }

    static void run()
    {
        const std::vector<T> a = values<T>(count, 9);
        std::vector<T> b = values<T>(count, 100, 2), c = values<T>(count, 100, 3), answer(2 * count);
        std::sort(b.begin(), b.end());
        std::sort(c.begin(), c.end());
        const vector da = a, db = b, dc = c;
        vector got(2 * count);
        auto at = answer.begin();

        at = std::copy_if(a.begin(), a.end(), answer.begin(), odd<T>());
        expect_up_to("copy_if", got, thrust::copy_if(da.begin(), da.end(), got.begin(), odd<T>()), answer, at - answer.begin());
        at = std::unique_copy(a.begin(), a.end(), answer.begin());
        expect_up_to("unique_copy", got, thrust::unique_copy(da.begin(), da.end(), got.begin()), answer, at - answer.begin());
        std::copy(a.begin(), a.end(), answer.begin());
        got = da, got.resize(2 * count);
        at = std::stable_partition(answer.begin(), answer.begin() + count, odd<T>());
        expect("partition_point", (int64_t)(thrust::stable_partition(got.begin(), got.begin() + count, odd<T>()) - got.begin()),
               (int64_t)(at - answer.begin()));
        expect_up_to("stable_partition", got, got.begin() + count, answer, count);

        at = std::merge(b.begin(), b.end(), c.begin(), c.end(), answer.begin());
        expect_up_to("merge", got, thrust::merge(db.begin(), db.end(), dc.begin(), dc.end(), got.begin()), answer, at - answer.begin());
#define SET(operation)                                                                                              \
    at = std::operation(b.begin(), b.end(), c.begin(), c.end(), answer.begin());                                    \
    expect_up_to(#operation, got, thrust::operation(db.begin(), db.end(), dc.begin(), dc.end(), got.begin()), answer, \
                 at - answer.begin())
        SET(set_union);
        SET(set_intersection);
        SET(set_difference);
        SET(set_symmetric_difference);

        thrust::device_vector<int> places(count);
        std::vector<int> right(count);
        thrust::lower_bound(db.begin(), db.end(), dc.begin(), dc.end(), places.begin());
        for (size_t i = 0; i < count; i++)
            right[i] = (int)(std::lower_bound(b.begin(), b.end(), c[i]) - b.begin());
        expect("lower_bound", places, right);
    }
};

int main()
{
    each<choices, uint8_t, int32_t, double>();
    return wrong;
}
