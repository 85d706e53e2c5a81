// dot, nrm2, asum, iamax and iamin: of many elements, of every other one, of none.
#include "blas.h"

template <class T> static bool near(T is, double should)
{
    judge judge;

    judge.see(is, should, sizeof(T) == 8 ? EXACT_F64 : EXACT_F32);
    return judge.right();
}

int main()
{
    const int n = 3001;
    blas_handle handle;
    array<float> x(n * 2, 1), y(n * 2, 2);
    array<double> d(n, 3);
    double dot = 0, squares = 0, sum = 0, mixed = 0;
    float f;
    double g;
    int index;

    for (int i = 0; i < n; i++) {
        dot += x[i] * y[i];
        mixed += x[2 * i] * y[n - 1 - i];
        squares += d[i] * d[i];
        sum += std::fabs(d[i]);
    }
    BLAS(cublasSdot(handle, n, x.device, 1, y.device, 1, &f));
    HOLDS(near(f, dot)); //> near(f, dot): yes
    BLAS(cublasSdot(handle, n, x.device, 2, y.device, -1, &f));
    HOLDS(near(f, mixed)); //> near(f, mixed): yes
    BLAS(cublasDnrm2(handle, n, d.device, 1, &g));
    HOLDS(near(g, std::sqrt(squares))); //> near(g, std::sqrt(squares)): yes
    BLAS(cublasDasum(handle, n, d.device, 1, &g));
    HOLDS(near(g, sum)); //> near(g, sum): yes

    /* No overflow on the way to a length that can be told. */
    d.fill(1e300);
    BLAS(cublasDnrm2(handle, 100, d.device, 1, &g));
    HOLDS(near(g / 1e300, 10)); //> near(g / 1e300, 10): yes
    x.fill(1e30f);
    BLAS(cublasSnrm2(handle, 100, x.device, 1, &f));
    HOLDS(near(f / 1e30f, 10)); //> near(f / 1e30f, 10): yes

    x.fill(1);
    x.host[700] = x.host[900] = -5;
    x.host[800] = x.host[850] = 0.5f;
    x.upload();
    BLAS(cublasIsamax(handle, n, x.device, 1, &index));
    printf("%d\n", index); //> 701
    BLAS(cublasIsamin(handle, n, x.device, 1, &index));
    printf("%d\n", index); //> 801
    BLAS(cublasIsamax(handle, n, x.device, 100, &index));
    printf("%d\n", index); //> 8

    STATUS(cublasSdot(handle, 0, x.device, 1, y.device, 1, &f)); //> cublasSdot(handle, 0, x.device, 1, y.device, 1, &f): CUBLAS_STATUS_SUCCESS
    printf("%g\n", f); //> 0
    STATUS(cublasSnrm2(handle, -1, x.device, 1, &f)); //> cublasSnrm2(handle, -1, x.device, 1, &f): CUBLAS_STATUS_SUCCESS
    printf("%g\n", f); //> 0
    STATUS(cublasIsamax(handle, 0, x.device, 1, &index)); //> cublasIsamax(handle, 0, x.device, 1, &index): CUBLAS_STATUS_SUCCESS
    printf("%d\n", index); //> 0
}
