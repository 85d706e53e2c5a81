/*
 * complex.h - complex numbers as vectors of two, and arithmetic functions for complex and real
 * numbers, so that one template computes with both. Sums and differences are the language's own.
 */
#ifndef GS_CUBLAS_COMPLEX_H
#define GS_CUBLAS_COMPLEX_H

#include "cublas/kernels/words.h"

typedef float c32 __attribute__((ext_vector_type(2)));
typedef double c64 __attribute__((ext_vector_type(2)));

template <class T> struct real_type_of {
    typedef T type;
};
template <> struct real_type_of<c32> {
    typedef float type;
};
template <> struct real_type_of<c64> {
    typedef double type;
};
/* The type of a number's parts, and of its magnitude. */
template <class T> using real_type = typename real_type_of<T>::type;

INLINE float root(float x)
{
    return __nvvm_sqrt_rn_f(x);
}
INLINE double root(double x)
{
    return __nvvm_sqrt_rn_d(x);
}
template <class T> INLINE T absolute(T x)
{
    return x < T(0) ? -x : x;
}

/* `magnitude`, by which BLAS and LAPACK compare complex numbers, is the sum of the parts'
 * magnitudes. */
#define REAL_NUMBERS(T)                                                                            \
    INLINE T real(T a)                                                                             \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    INLINE T imaginary(T)                                                                          \
    {                                                                                              \
        return T(0);                                                                               \
    }                                                                                              \
    INLINE T conjugate(T a)                                                                        \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    INLINE bool is_zero(T a)                                                                       \
    {                                                                                              \
        return a == T(0);                                                                          \
    }                                                                                              \
    INLINE T magnitude(T a)                                                                        \
    {                                                                                              \
        return absolute(a);                                                                        \
    }                                                                                              \
    INLINE T square(T a)                                                                           \
    {                                                                                              \
        return a * a;                                                                              \
    }                                                                                              \
    INLINE T times(T a, T b)                                                                       \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    INLINE T over(T a, T b)                                                                        \
    {                                                                                              \
        return a / b;                                                                              \
    }

/* Division scales its operands to numbers near 1, so that no square overflows. */
#define COMPLEX_NUMBERS(C, T, SCALAR)                                                              \
    INLINE T real(C a)                                                                             \
    {                                                                                              \
        return a.x;                                                                                \
    }                                                                                              \
    INLINE T imaginary(C a)                                                                        \
    {                                                                                              \
        return a.y;                                                                                \
    }                                                                                              \
    INLINE C conjugate(C a)                                                                        \
    {                                                                                              \
        return C{a.x, -a.y};                                                                       \
    }                                                                                              \
    INLINE bool is_zero(C a)                                                                       \
    {                                                                                              \
        return a.x == T(0) && a.y == T(0);                                                         \
    }                                                                                              \
    INLINE T magnitude(C a)                                                                        \
    {                                                                                              \
        return absolute(a.x) + absolute(a.y);                                                      \
    }                                                                                              \
    INLINE T square(C a)                                                                           \
    {                                                                                              \
        return a.x * a.x + a.y * a.y;                                                              \
    }                                                                                              \
    INLINE C times(C a, C b)                                                                       \
    {                                                                                              \
        return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                    \
    }                                                                                              \
    INLINE C over(C a, C b)                                                                        \
    {                                                                                              \
        const T scale = T(1) / magnitude(b);                                                       \
        const C near = b * scale;                                                                  \
                                                                                                   \
        return times(a * scale, conjugate(near)) / square(near);                                   \
    }                                                                                              \
    template <> struct convert<C> {                                                                \
        static INLINE C from(C x) { return x; }                                                    \
        template <class From> static INLINE C from(From x)                                         \
        {                                                                                          \
            return C{convert<T>::from(x), T(0)};                                                   \
        }                                                                                          \
    };                                                                                             \
    template <> INLINE C scalar_read<C>(const struct scalar *s)                                    \
    {                                                                                              \
        C x;                                                                                       \
                                                                                                   \
        if (s->type != SCALAR)                                                                     \
            return convert<C>::from(scalar_read<T>(s));                                            \
        if (s->address)                                                                            \
            x = *(const GLOBAL C *)s->address;                                                     \
        else                                                                                       \
            __builtin_memcpy(&x, s->bits, sizeof(x));                                              \
        return s->conjugated ? conjugate(x) : x;                                                   \
    }

REAL_NUMBERS(float)
REAL_NUMBERS(double)
COMPLEX_NUMBERS(c32, float, SCALAR_C32)
COMPLEX_NUMBERS(c64, double, SCALAR_C64)

/* Returns the number as a T, with an imaginary part of 0 if T has one. */
template <class T> INLINE T from_real(real_type<T> x)
{
    return convert<T>::from(x);
}

#endif
