#include <cstdio>
/* Prints; and with REGISTERS it gives registers back, as kernels of warps with different parts do. */
extern "C" __global__ void __launch_bounds__(128) prints(const int *number)
{
#ifdef REGISTERS
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
#endif
    printf("%d\n", *number);
}
