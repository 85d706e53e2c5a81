// Thrust, which chooses its kernels by cudaFuncAttributes.ptxVersion.
#include "show.h"
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

int main()
{
    const int count = 5000;
    static int host[count];
    thrust::device_vector<int> v(count);
    bool sorted = true;
    long sum = 0;

    for (int i = 0; i < count; i++)
        sum += host[i] = i * 7919 % 5003;
    thrust::copy(host, host + count, v.begin());
    HOLDS(thrust::reduce(v.begin(), v.end(), 0l) == sum); //> thrust::reduce(v.begin(), v.end(), 0l) == sum: yes
    thrust::sort(v.begin(), v.end());
    thrust::copy(v.begin(), v.end(), host);
    for (int i = 1; i < count; i++)
        sorted = sorted && host[i - 1] <= host[i];
    HOLDS(sorted); //> sorted: yes
}
