// A function that the driver does not have is told by the query's result, and the pointer is set.
#include "show.h"

int main()
{
    void *function = (void *)1;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;

    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &result)); //> cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &result): cudaSuccess
    HOLDS(function == nullptr);                           //> function == nullptr: yes
    HOLDS(result == cudaDriverEntryPointSymbolNotFound);  //> result == cudaDriverEntryPointSymbolNotFound: yes
}
