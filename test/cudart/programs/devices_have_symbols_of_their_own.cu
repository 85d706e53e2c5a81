// Each device has a __device__ variable of its own; a copy to the symbol goes to the current device's.
#include "devices.h"

__device__ int word = 7;

__global__ void add(int more)
{
    word += more;
}

int main()
{
    void *address[2];
    int value;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        add<<<1, 1>>>(d + 1);
        MUST(cudaGetSymbolAddress(&address[d], word));
    }
    HOLDS(address[0] != address[1]); //> address[0] != address[1]: yes
    value = 50;
    MUST(cudaMemcpyToSymbol(word, &value, 4));
    add<<<1, 1>>>(1);
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMemcpyFromSymbol(&value, word, 4));
        printf("%d\n", value); //> 8
                               //> 51
    }
}
