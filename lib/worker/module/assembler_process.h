/*
 * assembler_process.h - the process that runs ptxas: the memfds that it has instead of the
 * machine's files, its start and its end, and what it does before it executes ptxas.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_PROCESS_H
#define GS_WORKER_MODULE_ASSEMBLER_PROCESS_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/sanitizers.h"

struct job;

enum { ASSEMBLER_ARGUMENTS_MOST = 5 };
/* The exit statuses of a process that could not execute ptxas, for want of memory or for another
 * reason. ptxas itself may end with the same statuses. */
enum { ASSEMBLER_NO_MEMORY = 126, ASSEMBLER_CANNOT_RUN = 127 };
/* The paths at which the process has its text and its code. */
#define ASSEMBLER_TEXT "/proc/self/fd/3"
#define ASSEMBLER_CODE "/proc/self/fd/4"
/* The limit of its address space. A function at the fence's limits takes 3 GiB. A sanitizer has
 * terabytes of addresses. */
#define ASSEMBLER_MEMORY_MOST                                                                      \
    (ADDRESS_SANITIZER || THREAD_SANITIZER ? RLIM_INFINITY : (rlim_t)8 << 30)
#define ASSEMBLER_SECONDS_MOST 1200u /* of CPU time; one at several bounds takes 12 minutes */
#define ASSEMBLER_CODE_MOST    ((rlim_t)512 << 20)

/* Make a memfd, empty or with a text. -1, and errno: there is no memory. */
int assembler_file_new(void);
int assembler_file_with(const char *text, size_t size);
/* Returns the content of the file, `most` bytes at most, with a NUL behind it; the caller frees it.
 * NULL: there is no memory. */
char *assembler_file_read(int fd, size_t most, size_t *size);

/* Starts the program with up to ASSEMBLER_ARGUMENTS_MOST arguments and with three files: its text
 * and its code (each -1: none), and `said` for its messages. Returns 0 or an error number. */
int assembler_start(const char *path, char *const *given, int in, int out, int said, pid_t *pid);
/* Waits for the end of the process. Kills it, with all processes that it started, when the job's
 * session closes or the time is over. job NULL: no session. Returns its wait status. */
int assembler_await(struct job *job, pid_t pid, unsigned seconds, struct rusage *used);
/* Makes ptxas' option for a device of that compute capability, "-arch=sm_90a", with the letter that
 * the text's .target has. */
void assembler_architecture(const char *text, unsigned major, unsigned minor, char argument[32]);
/* Runs in the process for ptxas, as gshared --ptxas-run WORKER PROGRAM ARGUMENT..., and executes
 * PROGRAM. `arguments`: from WORKER on. Ends the process where PROGRAM cannot be executed; returns
 * an exit status where the worker is gone or a limit cannot be set. */
int assembler_main(char **arguments);

#endif
