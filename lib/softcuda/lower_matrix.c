// Matrix instructions: ldmatrix, stmatrix, movmatrix, mma, wmma.
#include <errno.h>

#include "softcuda/lower.h"

bool lower_matrix(struct lower *L)
{
    (void)L;
    return false;
}
