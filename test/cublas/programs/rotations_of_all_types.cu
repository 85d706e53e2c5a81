// Rotations with types by parameter, on the host and on the device: numbers, rotations and parameters have one
// type, and 16 bits are computed in f32.
#include "blas.h"

static const int N = 300;

/* Room of the host or the device, as the pointer mode says. */
template <class T> struct numbers {
    T *at;

    numbers(cublasHandle_t handle, cublasPointerMode_t mode, std::vector<double> values)
    {
        BLAS(cublasSetPointerMode(handle, mode));
        MUST(cudaMallocManaged(&at, 16 * sizeof(T)));
        for (size_t i = 0; i < values.size(); i++)
            at[i] = value<T>(values[i]);
    }
    ~numbers() { cudaFree(at); }
    double operator[](int i) const
    {
        MUST(cudaDeviceSynchronize());
        return plain(at[i]);
    }
};

template <class T> static void show(const char *name, cudaDataType type, cudaDataType execution, double tolerance)
{
    blas_handle handle;
    judge made, turned, made_modified;

    for (cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
        numbers<T> g(handle, mode, {3, 4, 0, 0});

        BLAS(cublasRotgEx(handle, g.at, g.at + 1, type, g.at + 2, g.at + 3, type, execution));
        made.see(g[0], 5, tolerance);
        made.see(g[1], 5. / 3, tolerance);
        made.see(g[2], 0.6, tolerance);
        made.see(g[3], 0.8, tolerance);

        numbers<T> m(handle, mode, {1, 2, 3, 4, 0, 0, 0, 0, 0});

        BLAS(cublasRotmgEx(handle, m.at, type, m.at + 1, type, m.at + 2, type, m.at + 3, type, m.at + 4, type,
                           execution));
        // By the matrix (h11, 1; -1, h22): d1 x1^2 < d2 y1^2.
        made_modified.see(m[4], 1, tolerance);
        made_modified.see(m[5], 3. / 8, tolerance);
        made_modified.see(m[8], 3. / 4, tolerance);
        made_modified.see(m[2], 4 * (1 + 9. / 32), 4 * tolerance);
        made_modified.see(m[0], 2 / (1 + 9. / 32), tolerance);
        made_modified.see(m[1], 1 / (1 + 9. / 32), tolerance);

        for (double flag : {-2., -1., 0., 1.}) {
            numbers<T> p(handle, mode, {flag, 0.5, -1.5, 2, 0.25});
            array<T> x(N, 1), y(N, 2);
            const double h11 = flag == -2 || flag == 0 ? 1 : 0.5, h22 = flag == -2 || flag == 0 ? 1 : 0.25;
            const double h12 = flag == -2 ? 0 : flag == 1 ? 1 : 2, h21 = flag == -2 ? 0 : flag == 1 ? -1 : -1.5;

            BLAS(cublasRotmEx(handle, N, x.device, type, 1, y.device, type, 1, p.at, type, execution));
            std::vector<T> xs = x.download(), ys = y.download();
            for (int i = 0; i < N; i++) {
                turned.see(plain(xs[i]), h11 * x[i] + h12 * y[i], 2 * tolerance);
                turned.see(plain(ys[i]), h21 * x[i] + h22 * y[i], 2 * tolerance);
            }
        }
    }
    printf("%s: made %s, turned %s, made modified %s\n", name, made.right() ? "right" : "wrong",
           turned.right() ? "right" : "wrong", made_modified.right() ? "right" : "wrong");
}

int main()
{
    blas_handle handle;
    float f[5] = {};
    double d[5] = {};

    show<float>("f32", CUDA_R_32F, CUDA_R_32F, 1e-5);            //> f32: made right, turned right, made modified right
    show<double>("f64", CUDA_R_64F, CUDA_R_64F, 1e-13);          //> f64: made right, turned right, made modified right
    show<__half>("f16", CUDA_R_16F, CUDA_R_32F, 2e-3);           //> f16: made right, turned right, made modified right
    show<__nv_bfloat16>("bf16", CUDA_R_16BF, CUDA_R_32F, 1.6e-2); //> bf16: made right, turned right, made modified right

    // Other combinations are not supported.
    STATUS_OF("mixed", cublasRotgEx(handle, f, f, CUDA_R_32F, d, d, CUDA_R_64F, CUDA_R_64F)); //> mixed: CUBLAS_STATUS_NOT_SUPPORTED
    STATUS_OF("mixed", cublasRotmgEx(handle, f, CUDA_R_32F, d, CUDA_R_64F, d, CUDA_R_64F, d, CUDA_R_64F, d, CUDA_R_64F, CUDA_R_64F)); //> mixed: CUBLAS_STATUS_NOT_SUPPORTED
}
