/* devices.h - programs of several devices: with one there is nothing to see. */
#ifndef DEVICES_H
#define DEVICES_H

#include "show.h"

/* Ends the program as a test that is skipped, unless there are two devices. */
static void two_needed()
{
    int count = 0;

    MUST(cudaGetDeviceCount(&count));
    if (count < 2) {
        printf("there is one device\n");
        exit(77);
    }
}

/* The same, unless kernels of each device reach memory of the other: a fenced session's do not. */
[[maybe_unused]] static void reach_needed()
{
    int can = 0;

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        printf("no peer access\n");
        exit(77);
    }
}

__global__ void fill(int *at, int value, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        at[i] = value + i;
}

#endif
