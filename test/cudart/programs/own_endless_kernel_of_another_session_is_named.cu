// While a kernel of another session runs without end, a program's kernels cannot be loaded. It is told whose it is, and
// what ends it; when it has ended, the program goes on.
#include "gshare_cuda.h"
#include "said.h"
#include "show.h"

static const char endless_text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry endless(.param .u64 flag)\n"
    "{ .reg .u64 %a; .reg .u32 %v; .reg .pred %p; ld.param.u64 %a, [flag]; cvta.to.global.u64 %a, %a;\n"
    "again: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra again; ret; }\n";

struct endless {
    gs_session session;
    gs_stream aside;
    gs_devptr flag;
};

static endless endless_begin()
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    endless other;
    gs_module module;
    gs_kernel kernel;

    if (gs_attach(NULL, &other.session) != GS_OK ||
        gs_stream_create(other.session, NULL, &other.aside) != GS_OK ||
        gs_malloc(other.session, 4, &other.flag) != GS_OK ||
        gs_memset(other.session, other.flag, 0, 4) != GS_OK ||
        gs_module_load(other.session, endless_text, sizeof(endless_text) - 1, &module) != GS_OK ||
        gs_kernel_get(module, "endless", &kernel) != GS_OK)
        exit(1);
    void *args[] = {&other.flag};
    if (gs_launch(NULL, kernel, &config, args) != GS_OK)
        exit(1);
    return other;
}

__global__ void store(int *at)
{
    *at = 7;
}

int main()
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    char command[64];
    int *at, value = 0;

    MUST(cudaMalloc(&at, sizeof(int)));
    endless other = endless_begin();
    if (gs_session_info(other.session, &desc) != GS_OK)
        return 1;
    snprintf(command, sizeof(command), "(gsctl kill %llu ends it)", (unsigned long long)desc.session_id);
    store<<<1, 1>>>(at);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorSystemNotReady
    HOLDS(said_times("no moment came without running kernels: session ") == 1); //> said_times("no moment came without running kernels: session ") == 1: yes
    HOLDS(said_times(command) == 1); //> said_times(command) == 1: yes
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 16384)); //> cudaDeviceSetLimit(cudaLimitStackSize, 16384): cudaErrorSystemNotReady
    HOLDS(said_times(command) == 2); //> said_times(command) == 2: yes

    if (gs_memset_async(other.session, other.flag, 1, 4, other.aside) != GS_OK || gs_sync(other.session) != GS_OK)
        return 1;
    store<<<1, 1>>>(at);
    MUST(cudaMemcpy(&value, at, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", value); //> 7
    return gs_detach(other.session) != GS_OK;
}
