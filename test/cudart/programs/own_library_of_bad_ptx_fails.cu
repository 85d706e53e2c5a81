// Text that is no PTX is refused as such, fenced or not, and is told on stderr. A library that fails leaves none.
#include "said.h"
#include "show.h"

static const char bad[] = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense";
static const char good[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }";

static cudaError_t load(cudaLibrary_t *library, const char *text)
{
    return cudaLibraryLoadData(library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

int main()
{
    cudaLibrary_t library = nullptr;
    cudaError_t error;
    unsigned count;

    MUST(cudaFree(nullptr));
    error = load(&library, bad);
    HOLDS(error == cudaErrorInvalidPtx);      //> error == cudaErrorInvalidPtx: yes
    HOLDS(library == nullptr);                //> library == nullptr: yes
    HOLDS(cudaGetLastError() == error);       //> cudaGetLastError() == error: yes
    HOLDS(said_times("cannot be loaded") == 1); //> said_times("cannot be loaded") == 1: yes
    MUST(load(&library, good));
    MUST(cudaLibraryGetKernelCount(&count, library));
    printf("%u\n", count); //> 1
}
