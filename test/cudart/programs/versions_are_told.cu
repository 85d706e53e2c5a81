// Runtime and driver tell their versions as 1000 * major + 10 * minor.
#include "show.h"

int main()
{
    int runtime, driver;

    SHOW(cudaRuntimeGetVersion(&runtime)); //> cudaRuntimeGetVersion(&runtime): cudaSuccess
    SHOW(cudaDriverGetVersion(&driver));   //> cudaDriverGetVersion(&driver): cudaSuccess
    HOLDS(runtime / 1000 == CUDART_VERSION / 1000); //> runtime / 1000 == CUDART_VERSION / 1000: yes
    HOLDS(driver >= 12000); //> driver >= 12000: yes
    SHOW(cudaRuntimeGetVersion(nullptr)); //> cudaRuntimeGetVersion(nullptr): cudaErrorInvalidValue
}
