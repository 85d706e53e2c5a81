// Rotations of two vectors: rot of all types, rotm by each flag of its parameters, rotg and rotmg, which make them, of
// numbers on the host and on the device.
#include "complex.h"

static const int N = 1000, INC = 2;

template <class T> struct rotations;
#define ROTATIONS_OF(T, R, S, X, type_)                                                            \
    template <> struct rotations<T> {                                                              \
        typedef R real;                                                                            \
        static const cudaDataType type = type_;                                                    \
        static constexpr auto rot = cublas##S##rot_v2;                                             \
        static constexpr auto rot_real = cublas##X##rot_v2;                                        \
        static constexpr auto rotg = cublas##S##rotg_v2;                                           \
    };
ROTATIONS_OF(float, float, S, S, CUDA_R_32F)
ROTATIONS_OF(double, double, D, D, CUDA_R_64F)
ROTATIONS_OF(cuComplex, float, C, Cs, CUDA_C_32F)
ROTATIONS_OF(cuDoubleComplex, double, Z, Zd, CUDA_C_64F)

template <class T> number_t conjugate(number_t z)
{
    return is_complex<T> ? std::conj(z) : z;
}

template <class T> void rot(cublasHandle_t handle, judge &judge)
{
    typedef typename rotations<T>::real real;
    const real c = 0.6f, part = 0.8f;
    const T s = narrow<T>({0.5, -0.6});

    for (int which = 0; which < 3; which++) {
        matrix<T> x(INC, N, 1), y(1, N, 2);
        std::vector<number_t> x_before = x.now(), y_before = y.now();
        const number_t sine = which == 0 ? widen(s) : part;

        if (which == 0)
            BLAS(rotations<T>::rot(handle, N, x.device, INC, y.device, -1, &c, &s));
        else if (which == 1)
            BLAS(rotations<T>::rot_real(handle, N, x.device, INC, y.device, -1, &c, &part));
        else
            BLAS(cublasRotEx(handle, N, x.device, rotations<T>::type, INC, y.device, rotations<T>::type, -1, &c, &part,
                             rotations<real>::type, rotations<T>::type));
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            const number_t from_x = x_before[i * INC], from_y = y_before[N - 1 - i];

            see<T>(judge, x(0, i), (double)c * from_x + sine * from_y);
            see<T>(judge, y(0, N - 1 - i), (double)c * from_y - conjugate<T>(sine) * from_x);
            see<T>(judge, x(1, i), x_before[i * INC + 1]);
        }
    }
}

/* What rotg has made takes b to 0 and keeps lengths. */
template <class T> void rotg(cublasHandle_t handle, judge &judge)
{
    typedef typename rotations<T>::real real;
    const number_t numbers[][2] = {{3, 4}, {-4, 3}, {2, -2}, {0, 5}, {5, 0}, {0, 0}, {{1, -2}, {0.5, 3}}, {{-3, 1}, {0, 0}}};
    struct operands {
        T a, b, s;
        real c;
    } *device;

    MUST(cudaMallocManaged(&device, sizeof(*device)));
    for (auto &pair : numbers)
        for (cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
            operands host = {narrow<T>(pair[0]), narrow<T>(pair[1]), {}, 0};
            operands *at = mode == CUBLAS_POINTER_MODE_HOST ? &host : device;
            const number_t a = widen(host.a), b = widen(host.b);

            *device = host;
            BLAS(cublasSetPointerMode(handle, mode));
            BLAS(rotations<T>::rotg(handle, &at->a, &at->b, &at->c, &at->s));
            MUST(cudaDeviceSynchronize());
            const number_t c = at->c, s = widen(at->s);

            see<T>(judge, c * a + s * b, widen(at->a));
            see<T>(judge, c * b - conjugate<T>(s) * a, 0);
            see<T>(judge, std::abs(widen(at->a)), std::hypot(std::abs(a), std::abs(b)));
            see<T>(judge, std::norm(c) + std::norm(s), 1);
        }
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    cudaFree(device);
}

/* The matrix that rotm's parameters mean. */
static void matrix_of(const double *param, double *h)
{
    h[0] = param[0] == -1 || param[0] == 1 ? param[1] : 1;
    h[1] = param[0] == -1 || param[0] == 0 ? param[3] : param[0] == 1 ? 1 : 0;
    h[2] = param[0] == -1 || param[0] == 0 ? param[2] : param[0] == 1 ? -1 : 0;
    h[3] = param[0] == -1 || param[0] == 1 ? param[4] : 1;
}

static void rotm(cublasHandle_t handle, judge &judge)
{
    double *device, h[4];

    MUST(cudaMalloc(&device, 5 * sizeof(double)));
    for (double flag : {-2., -1., 0., 1.})
        for (cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
            const double param[5] = {flag, 0.5, -1.5, 2, 0.25};
            const float narrow_param[5] = {(float)flag, 0.5, -1.5, 2, 0.25};
            matrix<double> x(INC, N, 1), y(1, N, 2);
            matrix<float> u(1, N, 3), v(1, N, 4);
            std::vector<number_t> xs = x.now(), ys = y.now(), us = u.now(), vs = v.now();

            BLAS(cublasSetPointerMode(handle, mode));
            MUST(cudaMemcpy(device, param, sizeof(param), cudaMemcpyHostToDevice));
            BLAS(cublasDrotm(handle, N, x.device, INC, y.device, 1, mode == CUBLAS_POINTER_MODE_HOST ? param : device));
            MUST(cudaMemcpy(device, narrow_param, sizeof(narrow_param), cudaMemcpyHostToDevice));
            BLAS(cublasSrotm(handle, N, u.device, 1, v.device, 1,
                             mode == CUBLAS_POINTER_MODE_HOST ? narrow_param : (float *)device));
            MUST(cudaDeviceSynchronize());
            matrix_of(param, h);
            for (int i = 0; i < N; i++) {
                see<double>(judge, x(0, i), h[0] * xs[i * INC] + h[1] * ys[i]);
                see<double>(judge, y(0, i), h[2] * xs[i * INC] + h[3] * ys[i]);
                see<float>(judge, u(0, i), h[0] * us[i] + h[1] * vs[i]);
                see<float>(judge, v(0, i), h[2] * us[i] + h[3] * vs[i]);
            }
        }
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    cudaFree(device);
}

/* What rotmg has made: h (x1, y1) is (x, 0), and d1 x1^2 + d2 y1^2 is kept. */
static void rotmg(cublasHandle_t handle, judge &judge)
{
    const double numbers[][4] = {{1, 2, 3, 4}, {4, 1, 5, 2}, {1e10, 3, 2, 1}, {1e-9, 1e-12, 1, 3}, {2, 1e9, 1e-3, 1}, {2, 3, 4, 0}};
    double *device, h[4];

    MUST(cudaMallocManaged(&device, 9 * sizeof(double)));
    for (auto &n : numbers)
        for (cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
            double host[9] = {n[0], n[1], n[2], n[3]}, *at = mode == CUBLAS_POINTER_MODE_HOST ? host : device;

            memcpy(device, host, sizeof(host));
            BLAS(cublasSetPointerMode(handle, mode));
            BLAS(cublasDrotmg(handle, at, at + 1, at + 2, at + 3, at + 4));
            MUST(cudaDeviceSynchronize());
            matrix_of(at + 4, h);
            judge.see(h[0] * n[2] + h[1] * n[3], at[2], 1e-12);
            judge.see((h[2] * n[2] + h[3] * n[3]) * std::sqrt(at[1]), 0, 1e-10 * std::sqrt(n[0] + n[1]));
            judge.see(at[0] * at[2] * at[2] / (n[0] * n[2] * n[2] + n[1] * n[3] * n[3]), 1, 1e-12);
        }
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    cudaFree(device);
}

int main()
{
    blas_handle handle;
    judge turned, made, modified, made_modified;
    float r[4] = {-1, 2, 3, 4}, param[5] = {};
    auto all = [&](auto zero) {
        rot<decltype(zero)>(handle, turned);
        rotg<decltype(zero)>(handle, made);
    };

    all(float());
    all(double());
    all(cuComplex());
    all(cuDoubleComplex());
    rotm(handle, modified);
    rotmg(handle, made_modified);
    HOLDS(turned.right());        //> turned.right(): yes
    HOLDS(made.right());          //> made.right(): yes
    HOLDS(modified.right());      //> modified.right(): yes
    HOLDS(made_modified.right()); //> made_modified.right(): yes

    /* A negative d1 has no rotation. */
    BLAS(cublasSrotmg(handle, r, r + 1, r + 2, r + 3, param));
    printf("%g %g %g %g\n", param[0], r[0], r[1], r[2]); //> -1 0 0 0

    /* z tells c and s: it is s if |a| > |b|, else 1 / c. */
    float a = 4, b = 3, c, s;
    BLAS(cublasSrotg(handle, &a, &b, &c, &s));
    printf("%g %g %g %g\n", a, b, c, s); //> 5 0.6 0.8 0.6
    a = 3, b = 4;
    BLAS(cublasSrotg(handle, &a, &b, &c, &s));
    printf("%g %.4f %g %g\n", a, b, c, s); //> 5 1.6667 0.6 0.8
}
