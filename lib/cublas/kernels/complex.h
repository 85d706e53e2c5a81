/*
 * complex.h - complex numbers, as vectors of two, and the arithmetic that real numbers have too, so
 * that one template computes with both. Sums and differences are the language's own.
 */
#ifndef GS_CUBLAS_COMPLEX_H
#define GS_CUBLAS_COMPLEX_H

#include "cublas/kernels/words.h"

typedef float c32 __attribute__((ext_vector_type(2)));
typedef double c64 __attribute__((ext_vector_type(2)));

template <class T> struct part_of {
    typedef T type;
};
template <> struct part_of<c32> {
    typedef float type;
};
template <> struct part_of<c64> {
    typedef double type;
};
/* The type of a number's parts: that of its magnitude. */
template <class T> using part = typename part_of<T>::type;

INLINE float root(float x)
{
    return __nvvm_sqrt_rn_f(x);
}
INLINE double root(double x)
{
    return __nvvm_sqrt_rn_d(x);
}

/* ---- Real numbers ---- */

#define REAL(T)                                                                                    \
    INLINE T real(T a)                                                                             \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    INLINE T imaginary(T)                                                                          \
    {                                                                                              \
        return T(0);                                                                               \
    }                                                                                              \
    INLINE T times(T a, T b)                                                                       \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    INLINE T over(T a, T b)                                                                        \
    {                                                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    INLINE T conjugate(T a)                                                                        \
    {                                                                                              \
        return a;                                                                                  \
    }

REAL(float)
REAL(double)

/* ---- Complex numbers. A quotient is taken of numbers near 1, so that no square overflows ---- */

#define COMPLEX(C, T)                                                                              \
    INLINE T real(C a)                                                                             \
    {                                                                                              \
        return a.x;                                                                                \
    }                                                                                              \
    INLINE T imaginary(C a)                                                                        \
    {                                                                                              \
        return a.y;                                                                                \
    }                                                                                              \
    INLINE C times(C a, C b)                                                                       \
    {                                                                                              \
        return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                    \
    }                                                                                              \
    INLINE C conjugate(C a)                                                                        \
    {                                                                                              \
        return C{a.x, -a.y};                                                                       \
    }                                                                                              \
    INLINE C over(C a, C b)                                                                        \
    {                                                                                              \
        const T x = b.x < 0 ? -b.x : b.x, y = b.y < 0 ? -b.y : b.y;                                \
        const T scale = T(1) / (x + y);                                                            \
        const C near = b * scale;                                                                  \
                                                                                                   \
        return times(a * scale, conjugate(near)) / (near.x * near.x + near.y * near.y);            \
    }

COMPLEX(c32, float)
COMPLEX(c64, double)

/* ---- Both ---- */

/* The sum of the magnitudes of both parts, by which BLAS and LAPACK compare complex numbers. */
template <class T> INLINE part<T> magnitude(T a)
{
    const part<T> x = real(a), y = imaginary(a);

    return (x < 0 ? -x : x) + (y < 0 ? -y : y);
}
template <class T> INLINE part<T> square(T a)
{
    return real(a) * real(a) + imaginary(a) * imaginary(a);
}
template <class T> INLINE bool is_zero(T a)
{
    return real(a) == 0 && imaginary(a) == 0;
}
/* The number whose imaginary part, if it has one, is 0. */
template <class T> INLINE T from_real(part<T> x)
{
    T a = T(0);

    *(part<T> *)&a = x;
    return a;
}

#endif
