/* descriptor_table.c - see descriptor_table.h. */
#include "common/descriptor_table.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

void descriptor_table_reserve(unsigned count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    if (count > limit.rlim_cur)
        count = (unsigned)limit.rlim_cur;
    int any = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (any < 0)
        return;
    int last = fcntl(any, F_DUPFD_CLOEXEC, (int)count - 1);
    if (last >= 0)
        close(last);
    close(any);
}
