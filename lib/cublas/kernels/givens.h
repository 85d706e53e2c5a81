/*
 * givens.h - makes rotations, as BLAS' rotg and rotmg do. Included by the host's code, for operands
 * on the host, and by the kernels, in words that C and CUDA share.
 */
#ifndef GS_CUBLAS_GIVENS_H
#define GS_CUBLAS_GIVENS_H

/* GIVENS(suffix, T, FUNCTION, root): FUNCTION stands before each function; root(x) is a square root
 * of type T.
 *
 * rotg: [c s; -s c] [a; b] = [r; 0]; r replaces a, and z, which encodes c and s, replaces b.
 * rotg_complex: [c s; -conj(s) c] [a; b] = [r; 0]; r replaces a; numbers are pairs.
 * rotm_matrix: returns the matrix h of rotm, by rows; 0: it is the identity.
 * rotmg: the parameters of a modified rotation that takes the second of (sqrt(d1) x1, sqrt(d2) y1)
 * to 0, after the reference implementation of BLAS (drotmg.f); also changes d1, d2 and x1. */
#define GIVENS(suffix, T, FUNCTION, root)                                                          \
    FUNCTION T size_##suffix(T x)                                                                  \
    {                                                                                              \
        return x < 0 ? -x : x;                                                                     \
    }                                                                                              \
    FUNCTION T length_##suffix(T x, T y)                                                           \
    {                                                                                              \
        const T scale = size_##suffix(x) > size_##suffix(y) ? size_##suffix(x) : size_##suffix(y); \
                                                                                                   \
        if (!(scale > 0))                                                                          \
            return scale;                                                                          \
        x /= scale, y /= scale;                                                                    \
        return scale * root(x * x + y * y);                                                        \
    }                                                                                              \
    FUNCTION void rotg_##suffix(T *a, T *b, T *c, T *s)                                            \
    {                                                                                              \
        const int first = size_##suffix(*a) > size_##suffix(*b);                                   \
        T r = length_##suffix(*a, *b), z;                                                          \
                                                                                                   \
        if (r == 0) {                                                                              \
            *c = 1, *s = 0, *a = 0, *b = 0;                                                        \
            return;                                                                                \
        }                                                                                          \
        r = (first ? *a : *b) < 0 ? -r : r;                                                        \
        *c = *a / r, *s = *b / r;                                                                  \
        z = first ? *s : *c != 0 ? 1 / *c : 1;                                                     \
        *a = r, *b = z;                                                                            \
    }                                                                                              \
    FUNCTION void rotg_complex_##suffix(T *a, const T *b, T *c, T *s)                              \
    {                                                                                              \
        const T left = length_##suffix(a[0], a[1]), right = length_##suffix(b[0], b[1]);           \
        const T r = length_##suffix(left, right);                                                  \
        T re, im;                                                                                  \
                                                                                                   \
        if (left == 0) {                                                                           \
            *c = 0, s[0] = 1, s[1] = 0;                                                            \
            a[0] = b[0], a[1] = b[1];                                                              \
            return;                                                                                \
        }                                                                                          \
        re = a[0] / left, im = a[1] / left;                                                        \
        *c = left / r;                                                                             \
        s[0] = (re * b[0] + im * b[1]) / r, s[1] = (im * b[0] - re * b[1]) / r;                    \
        a[0] = re * r, a[1] = im * r;                                                              \
    }                                                                                              \
    FUNCTION int rotm_matrix_##suffix(const T *param, T *h)                                        \
    {                                                                                              \
        const T flag = param[0];                                                                   \
                                                                                                   \
        h[0] = flag == 0 ? 1 : param[1];                                                           \
        h[1] = flag == 1 ? 1 : param[3];                                                           \
        h[2] = flag == 1 ? -1 : param[2];                                                          \
        h[3] = flag == 0 ? 1 : param[4];                                                           \
        return flag != -2;                                                                         \
    }                                                                                              \
    FUNCTION void rotmg_scale_##suffix(T *flag, T *h, T *d, T *x, int row)                         \
    {                                                                                              \
        const T gamma = 4096, most = gamma * gamma, least = 1 / most;                              \
                                                                                                   \
        while (*d != 0 && (size_##suffix(*d) <= least || size_##suffix(*d) >= most)) {             \
            const int small = size_##suffix(*d) <= least;                                          \
            const T by = small ? 1 / gamma : gamma;                                                \
                                                                                                   \
            *flag = -1; /* all four are told */                                                    \
            *d = small ? *d * most : *d / most;                                                    \
            *x *= by, h[2 * row] *= by, h[2 * row + 1] *= by;                                      \
            if (!(size_##suffix(*d) < most * most))                                                \
                return; /* infinity or no number: no end */                                        \
        }                                                                                          \
    }                                                                                              \
    FUNCTION void rotmg_##suffix(T *d1, T *d2, T *x1, T y1, T *param)                              \
    {                                                                                              \
        const T p1 = *d1 * *x1, p2 = *d2 * y1, q1 = p1 * *x1, q2 = p2 * y1;                        \
        T h[4] = {0, 0, 0, 0}, flag, u = 0, unused = 1;                                            \
                                                                                                   \
        if (p2 == 0 && !(*d1 < 0)) {                                                               \
            param[0] = -2;                                                                         \
            return;                                                                                \
        }                                                                                          \
        if (size_##suffix(q1) > size_##suffix(q2)) {                                               \
            flag = 0;                                                                              \
            h[0] = 1, h[1] = p2 / p1, h[2] = -y1 / *x1, h[3] = 1;                                  \
            u = 1 - h[1] * h[2];                                                                   \
        } else if (!(q2 < 0)) {                                                                    \
            flag = 1;                                                                              \
            h[0] = p1 / p2, h[1] = 1, h[2] = -1, h[3] = *x1 / y1;                                  \
            u = 1 + h[0] * h[3];                                                                   \
        } else {                                                                                   \
            flag = -1;                                                                             \
        }                                                                                          \
        if (*d1 < 0 || !(u > 0)) {                                                                 \
            flag = -1;                                                                             \
            h[0] = h[1] = h[2] = h[3] = *d1 = *d2 = *x1 = 0;                                       \
        } else if (flag == 0) {                                                                    \
            *d1 /= u, *d2 /= u, *x1 *= u;                                                          \
        } else {                                                                                   \
            const T kept = *d2 / u;                                                                \
                                                                                                   \
            *d2 = *d1 / u, *d1 = kept, *x1 = y1 * u;                                               \
        }                                                                                          \
        rotmg_scale_##suffix(&flag, h, d1, x1, 0);                                                 \
        rotmg_scale_##suffix(&flag, h, d2, &unused, 1);                                            \
        param[0] = flag;                                                                           \
        if (flag != 0)                                                                             \
            param[1] = h[0], param[4] = h[3];                                                      \
        if (flag != 1)                                                                             \
            param[2] = h[2], param[3] = h[1];                                                      \
    }

#endif
