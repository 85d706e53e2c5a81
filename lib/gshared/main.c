/*
 * main.c - the executable gshared. It holds two programs: the supervisor, which a user starts, and
 * a device's worker, which the supervisor starts with --worker (the command line is in
 * common/link.h). The worker starts it with --ptxas-run, to become another program.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/main.h"
#include "worker/loop/main.h"
#include "worker/module/assembler_process.h"

/* Opens /dev/null wherever 0, 1 or 2 is closed: the next descriptors opened would take their
 * places. */
static void standard_descriptors_open(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    standard_descriptors_open();
    if (argc == 6 && !strcmp(argv[1], "--worker"))
        return worker_main(atoi(argv[2]), argv[3], argv[4], argv[5]);
    if (argc > 3 && !strcmp(argv[1], "--ptxas-run"))
        return assembler_main(argv + 2);
    return supervisor_main(argc, argv);
}
