// The time between two events is that of the work between them.
#include "show.h"

__global__ void spin(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

int main()
{
    cudaEvent_t start, middle, end;
    float whole, first, second;

    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&middle));
    MUST(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    spin<<<1, 1>>>(1000);
    MUST(cudaEventRecord(start));
    spin<<<1, 1>>>(1000000);
    MUST(cudaEventRecord(middle));
    spin<<<1, 1>>>(1000000);
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&whole, start, end));
    MUST(cudaEventElapsedTime(&first, start, middle));
    MUST(cudaEventElapsedTime(&second, middle, end));
    HOLDS(first > 0);                              //> first > 0: yes
    HOLDS(second > 0);                             //> second > 0: yes
    HOLDS(whole >= first && whole >= second);      //> whole >= first && whole >= second: yes
    HOLDS(whole < (first + second) * 1.01 + 0.01); //> whole < (first + second) * 1.01 + 0.01: yes
}
