// Arguments are copied at the launch, whatever their types.
#include "show.h"

struct mixed {
    char c;
    double d;
    short s[3];
};

__global__ void take(char c, short s, int i, long long l, float f, double d, mixed m, const int *p,
                     double *out)
{
    out[0] = c;
    out[1] = s;
    out[2] = i;
    out[3] = l;
    out[4] = f;
    out[5] = d;
    out[6] = m.c + m.d + m.s[0] + m.s[1] + m.s[2];
    out[7] = *p;
}

int main()
{
    mixed m = {1, 0.5, {10, 20, 30}};
    double *out, host[8];
    int *p, nine = 9;

    MUST(cudaMalloc(&out, sizeof(host)));
    MUST(cudaMalloc(&p, 4));
    MUST(cudaMemcpy(p, &nine, 4, cudaMemcpyHostToDevice));
    take<<<1, 1>>>(-1, -2, -3, 1ll << 40, 0.25f, 1e100, m, p, out);
    m.d = 99;
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    for (double value : host)
        printf("%g\n", value);
    //> -1
    //> -2
    //> -3
    //> 1.09951e+12
    //> 0.25
    //> 1e+100
    //> 61.5
    //> 9
}
