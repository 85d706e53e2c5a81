/* runtime.c - a program of the CUDA runtime that needs no toolkit: it declares what it calls. */
#include <gshare_cuda.h>
#include <stdio.h>

int cudaGetDeviceCount(int *count);

int main(void)
{
    gs_session session;
    int count;

    if (cudaGetDeviceCount(&count) != 0 || gs_cuda_session(&session) != GS_OK)
        return fprintf(stderr, "%s\n", gs_last_error_message()), 1;
    printf("%d devices\n", count);
    return 0;
}
