// The entry point of a null name is an invalid value; NVIDIA's runtime crashes.
#include "show.h"

int main()
{
    void *f = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
    const auto query = cudaGetDriverEntryPointByVersion;

    SHOW(query(nullptr, &f, 12000, cudaEnableDefault, &result)); //> query(nullptr, &f, 12000, cudaEnableDefault, &result): cudaErrorInvalidValue
}
