/*
 * answers.h - values to work on, and the comparison of what the device gives with what the host's
 * algorithms give. A program prints a line for each comparison and ends with status 1 if any
 * differs, so that its output can be compared too.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <type_traits>
#include <vector>

#include <thrust/device_vector.h>

static bool wrong; /* any comparison differed */

/* Small whole numbers, so that sums of them are exact in each type and in each order. */
template <class T> std::vector<T> values(size_t count, unsigned range = 50, unsigned seed = 1)
{
    std::vector<T> v(count);
    for (T &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = (T)((seed >> 16) % range);
    }
    return v;
}

template <class T> const char *name_of()
{
    static char name[8];
    snprintf(name, sizeof(name), "%c%zu",
             std::is_floating_point<T>::value ? 'f'
             : std::is_signed<T>::value       ? 'i'
                                              : 'u',
             8 * sizeof(T));
    return name;
}

/* The sum tells two outputs of the same program apart, also where both are wrong. */
template <class T>
void expect(const char *what, const std::vector<T> &got, const std::vector<T> &answer)
{
    uint64_t sum = got.size();
    for (size_t i = 0; i < got.size(); i++)
        sum = sum * 31 + (uint64_t)got[i];
    const bool right = got == answer;
    printf("%s %s: %s, %016llx\n", what, name_of<T>(), right ? "right" : "WRONG",
           (unsigned long long)sum);
    wrong = wrong || !right;
}

template <class T>
void expect(const char *what, const thrust::device_vector<T> &got, const std::vector<T> &answer)
{
    std::vector<T> host(got.size());
    thrust::copy(got.begin(), got.end(), host.begin());
    expect(what, host, answer);
}

template <class T> void expect(const char *what, T got, T answer)
{
    expect(what, std::vector<T>{got}, std::vector<T>{answer});
}

/* Each of the types: each<F, int, float>() calls F<int>::run() and F<float>::run(). */
template <template <class> class F, class... T> void each()
{
    (F<T>::run(), ...);
}

#endif
