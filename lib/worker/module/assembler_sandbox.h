/*
 * assembler_sandbox.h - the rights that the assembler's process gives up before it executes ptxas,
 * so that a text that takes ptxas over has no way to the server, to other processes of the workers'
 * user, to files or to a network.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_SANDBOX_H
#define GS_WORKER_MODULE_ASSEMBLER_SANDBOX_H

#include <stdbool.h>

/* Restricts the calling process for good, whatever it executes. It may read and execute `program`
 * and the system's folders of programs and libraries, and reopen its memfds by /proc/self/fd. It
 * opens nothing else, changes no file, has no network, sends no signal to other processes, and
 * starts threads but no process. On a kernel without Landlock (Linux 5.13) it can open the files
 * that its user can open; on one before Linux 6.2 it can truncate files that it may read and its
 * user may write. False, and errno: a step failed. The process has one thread. */
bool sandbox_enter(const char *program);

#endif
