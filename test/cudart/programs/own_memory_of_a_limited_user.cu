// The device has as much memory as cudaMemGetInfo says: less than a GPU's where the user may have less, to
// which test_programs holds it.
#include "show.h"

int main()
{
    cudaDeviceProp properties;
    size_t free, total;

    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(cudaMemGetInfo(&free, &total));
    HOLDS(total == 64 << 20); //> total == 64 << 20: yes
    HOLDS(properties.totalGlobalMem == total); //> properties.totalGlobalMem == total: yes
}
