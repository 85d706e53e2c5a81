/*
 * elements.h - address and value of a matrix's element, for matrices that are stored whole (struct
 * matrix), and for bands and triangles without gaps (struct packed_matrix).
 */
#ifndef GS_CUBLAS_ELEMENTS_H
#define GS_CUBLAS_ELEMENTS_H

#include "cublas/kernels/complex.h"

INLINE long long place(const struct matrix &m, int i, int j)
{
    return i * m.row + j * m.column;
}
INLINE long long place(const struct packed_matrix &m, int i, int j)
{
    if (!m.packed)
        return m.above + i - j + j * m.ld;
    return m.fill == FILL_UPPER ? i + (long long)j * (j + 1ll) / 2
                                : i + (long long)j * (2ll * m.order - j - 1) / 2;
}

template <class T> INLINE T element(const struct matrix &m, const GLOBAL T *first, int i, int j)
{
    const T x = first[place(m, i, j)];

    return m.conjugated ? conjugate(x) : x;
}
template <class T>
INLINE T element(const struct packed_matrix &m, const GLOBAL T *first, int i, int j)
{
    const int row = m.transposed ? j : i, column = m.transposed ? i : j;
    const bool mirror = m.mirrored && !filled(m.fill, row, column);
    T x = first[mirror ? place(m, column, row) : place(m, row, column)];

    if (m.hermitian && i == j)
        x = from_real<T>(real(x));
    return (mirror && m.hermitian) != (bool)m.conjugated ? conjugate(x) : x;
}

/* Returns, for a triangle, the end of the rows, counted from the diagonal's beginning, that have an
 * element in the column of row s. A whole matrix has m rows there. */
INLINE int reach(const struct matrix &, int, int m)
{
    return m;
}
INLINE int reach(const struct packed_matrix &a, int s, int m)
{
    const long long end = s + 1 + (a.before > a.behind ? a.before : a.behind);

    return end < m ? (int)end : m;
}

template <class T> INLINE GLOBAL T *operand(const struct packed_matrix *m, int)
{
    return (GLOBAL T *)m->address;
}

#endif
