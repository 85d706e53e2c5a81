// Device code that the program loads itself: kernels and variables by name.
#include "show.h"

static const char code[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [p];
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    ld.global.u32 %r2, [factor];
    mul.lo.u32 %r3, %r1, %r2;
    st.global.u32 [%d1], %r3;
    ret;
}
)";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    void *factor, *p;
    size_t size;
    int host[32], seven = 7;
    unsigned count;
    void *args[] = {&p};

    SHOW(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0)); //> cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0): cudaSuccess
    SHOW(cudaLibraryGetKernel(&kernel, library, "scale")); //> cudaLibraryGetKernel(&kernel, library, "scale"): cudaSuccess
    SHOW(cudaLibraryGetKernel(&kernel, library, "none") == cudaSuccess ? cudaSuccess : cudaErrorSymbolNotFound); //> cudaLibraryGetKernel(&kernel, library, "none") == cudaSuccess ? cudaSuccess : cudaErrorSymbolNotFound: cudaErrorSymbolNotFound
    MUST(cudaLibraryGetKernelCount(&count, library));
    printf("%u\n", count); //> 1
    MUST(cudaLibraryEnumerateKernels(&kernel, 1, library));
    MUST(cudaMalloc(&p, sizeof(host)));
    SHOW(cudaLaunchKernel((void *)kernel, dim3(1), dim3(32), args, 0, 0)); //> cudaLaunchKernel((void *)kernel, dim3(1), dim3(32), args, 0, 0): cudaSuccess
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[1], host[31]); //> 3 93
    SHOW(cudaLibraryGetGlobal(&factor, &size, library, "factor")); //> cudaLibraryGetGlobal(&factor, &size, library, "factor"): cudaSuccess
    printf("%zu\n", size); //> 4
    MUST(cudaMemcpy(factor, &seven, sizeof(seven), cudaMemcpyHostToDevice));
    MUST(cudaLaunchKernel((void *)kernel, dim3(1), dim3(32), args, 0, 0));
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[1], host[31]); //> 7 217
    SHOW(cudaLibraryUnload(library));     //> cudaLibraryUnload(library): cudaSuccess
}
