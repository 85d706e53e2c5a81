// Properties and attributes say the same.
#include "show.h"

int main()
{
    cudaDeviceProp p;
    int count, device = -1, value;

    MUST(cudaGetDeviceCount(&count));
    HOLDS(count >= 1); //> count >= 1: yes
    MUST(cudaGetDevice(&device));
    HOLDS(device == 0); //> device == 0: yes
    MUST(cudaGetDeviceProperties(&p, 0));
    HOLDS(strlen(p.name) > 0);         //> strlen(p.name) > 0: yes
    HOLDS(p.warpSize == 32);           //> p.warpSize == 32: yes
    HOLDS(p.maxThreadsPerBlock == 1024); //> p.maxThreadsPerBlock == 1024: yes
    HOLDS(p.totalGlobalMem > 0);       //> p.totalGlobalMem > 0: yes
    HOLDS(p.unifiedAddressing == 1);   //> p.unifiedAddressing == 1: yes
    HOLDS(p.sharedMemPerBlock == 49152); //> p.sharedMemPerBlock == 49152: yes
    HOLDS(p.sharedMemPerBlockOptin >= p.sharedMemPerBlock); //> p.sharedMemPerBlockOptin >= p.sharedMemPerBlock: yes
    HOLDS(p.sharedMemPerMultiprocessor > p.sharedMemPerBlockOptin); //> p.sharedMemPerMultiprocessor > p.sharedMemPerBlockOptin: yes
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    HOLDS(value == p.multiProcessorCount); //> value == p.multiProcessorCount: yes
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    HOLDS(value == p.major); //> value == p.major: yes
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    HOLDS(value == p.maxThreadsPerMultiProcessor); //> value == p.maxThreadsPerMultiProcessor: yes
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimX, 0));
    HOLDS(value == 2147483647); //> value == 2147483647: yes
    MUST(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0));
    HOLDS(value == 1); //> value == 1: yes
}
