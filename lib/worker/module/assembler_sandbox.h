/*
 * assembler_sandbox.h - what the assembler's process gives up before it becomes ptxas: a text that
 * takes ptxas over is to find no way to the server, to other processes of the workers' user, to
 * files or to a network.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_SANDBOX_H
#define GS_WORKER_MODULE_ASSEMBLER_SANDBOX_H

#include <stdbool.h>

/* Of this process, whatever it executes, for good: it may read and execute `program` and the
 * system's folders of programs and libraries, and open again by /proc/self/fd what it has open in
 * memory. It opens nothing else, changes no file, has no network, sends no signal to others, and
 * starts threads, but no process. A kernel without Landlock (Linux 5.13) leaves the files open
 * that the process' user can open; one before Linux 6.2, files that it may read and its user may
 * write can be truncated. False: errno says what failed. One thread. */
bool sandbox_enter(const char *program);

#endif
