// Constant memory may begin with addresses: of strings, of device variables, of functions.
#include "show.h"

struct operation {
    const char *name;
    int (*apply)(int, int);
    int weight;
};

__device__ int add(int a, int b)
{
    return a + b;
}

__device__ int multiply(int a, int b)
{
    return a * b;
}

__device__ int numbers[4] = {10, 20, 30, 40};
__constant__ int *third = numbers + 2;
__constant__ const char *colours[] = {"red", "green", "blue"};
__constant__ struct operation operations[] = {{"sum", add, 3}, {"product", multiply, 5}};
__constant__ const char *unused[] = {"nobody", "asks"};

__global__ void ask(int *out, int i)
{
    out[0] = colours[i][0];
    out[1] = *third;
    out[2] = operations[i].apply(6, 7) * operations[i].weight;
    out[3] = operations[i].name[1];
    *third += 1;
}

int main()
{
    int *out, host[4], value;

    MUST(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < 2; i++) {
        ask<<<1, 1>>>(out, i);
        MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        printf("%c %d %d %c\n", host[0], host[1], host[2], host[3]);
    }
    //> r 30 39 u
    //> g 31 210 r
    MUST(cudaMemcpyFromSymbol(&value, numbers, sizeof value, 2 * sizeof value));
    printf("%d\n", value); //> 32
    return 0;
}
