// Video instructions.
#include <errno.h>

#include "softcuda/lower.h"

bool lower_video(struct lower *L)
{
    (void)L;
    return false;
}
