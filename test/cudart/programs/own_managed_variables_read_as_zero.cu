// A __managed__ variable is not supported, which is said; the host's code does not crash by it.
#include "show.h"

__managed__ int managed = 3;

int main()
{
    printf("%d\n", managed); //> libgshare_cudart: __managed__ variable managed is not supported: host and kernels each have their own
    managed = 5;             //> 0
    printf("%d\n", managed); //> 5
}
