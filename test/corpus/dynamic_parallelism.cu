/* Dynamic parallelism: a kernel that launches another cannot be had, and the log says for what.
 * rdc: yes
 * clang: no (clang 14 takes kernel<<<>>> in host code only) */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL child(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

KERNEL parent(int *out)
{
    child<<<1, 32>>>(out);
}
#else
CASE_REFUSED(dynamic_parallelism, "__cudaCDP2")
#endif
