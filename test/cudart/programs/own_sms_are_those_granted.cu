// The device has the SMs that the session was granted, so that a grid of occupancy times SMs fits.
#include "said.h"
#include "show.h"
#include "gshare_cuda.h"

__global__ void kernel(int *p)
{
    p[blockIdx.x] = 1;
}

int main()
{
    gs_session session;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    cudaDeviceProp p;
    int sms, blocks;
    int *out;
    void *args[] = {&out};

    setenv("GSHARE_ACTIVE_THREAD_PERCENTAGE", "25", 1);
    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    HOLDS(sms == p.multiProcessorCount); //> sms == p.multiProcessorCount: yes
    gs_cuda_session(&session);
    gs_session_info(session, &desc);
    HOLDS(sms > 0 && sms <= (int)desc.sm_count / 2); //> sms > 0 && sms <= (int)desc.sm_count / 2: yes
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    MUST(cudaMalloc(&out, (blocks * sms + 1) * sizeof(int)));
    SHOW(cudaLaunchCooperativeKernel(kernel, blocks * sms, 256, args)); //> cudaLaunchCooperativeKernel(kernel, blocks * sms, 256, args): cudaSuccess
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    HOLDS(said_lines() == 0);      //> said_lines() == 0: yes
    SHOW(cudaLaunchCooperativeKernel(kernel, blocks * sms + 1, 256, args)); //> cudaLaunchCooperativeKernel(kernel, blocks * sms + 1, 256, args): cudaErrorCooperativeLaunchTooLarge
    HOLDS(said_times("a cooperative launch of") == 1); //> said_times("a cooperative launch of") == 1: yes
    HOLDS(said_lines() == 1);                          //> said_lines() == 1: yes
}
