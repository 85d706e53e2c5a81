/*
 * assembler_process.h - the process that ptxas is: the files in memory that it has instead of those
 * of the machine, its start and its end, and what it does before it becomes ptxas.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_PROCESS_H
#define GS_WORKER_MODULE_ASSEMBLER_PROCESS_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/sanitizers.h"

struct job;

enum { ASSEMBLER_ARGUMENTS_MOST = 5 };
/* Its exit statuses where ptxas is not executed, for want of memory or for another reason, unless
 * ptxas ends with them. */
enum { ASSEMBLER_NO_MEMORY = 126, ASSEMBLER_CANNOT_RUN = 127 };
/* What it finds its text in, and writes its code to. */
#define ASSEMBLER_TEXT "/proc/self/fd/3"
#define ASSEMBLER_CODE "/proc/self/fd/4"
/* A function at the fence's bounds takes 3 GiB. A sanitizer has terabytes of addresses. */
#define ASSEMBLER_MEMORY_MOST                                                                      \
    (ADDRESS_SANITIZER || THREAD_SANITIZER ? RLIM_INFINITY : (rlim_t)8 << 30)
#define ASSEMBLER_SECONDS_MOST 1200u /* of CPU time; one at several bounds takes 12 minutes */
#define ASSEMBLER_CODE_MOST    ((rlim_t)512 << 20)

/* Makes an empty file in memory, or one with a text. -1, and errno: there is no memory. */
int assembler_file_new(void);
int assembler_file_with(const char *text, size_t size);
/* Returns what is in the file, `most` bytes at most, with a NUL behind it, to be freed. NULL: there
 * is no memory. */
char *assembler_file_read(int fd, size_t most, size_t *size);

/* Starts the program with up to ASSEMBLER_ARGUMENTS_MOST arguments and with the files: its text,
 * its code (-1: none) and what it says. Returns 0 or an error number. */
int assembler_start(const char *path, char *const *given, int in, int out, int said, pid_t *pid);
/* Waits for the end of the process, which it kills, with what that has started, where the job's
 * session closes or the time is over. job: NULL, nobody's. Returns its status. */
int assembler_await(struct job *job, pid_t pid, unsigned seconds, struct rusage *used);
/* Makes ptxas' option for a device of that compute capability: "-arch=sm_90a", with the letter that
 * the text's .target has. */
void assembler_architecture(const char *text, unsigned major, unsigned minor, char argument[32]);
/* Runs in the process for ptxas, as gshared --ptxas-run WORKER PROGRAM ARGUMENT..., and executes
 * PROGRAM. Ends the process where PROGRAM cannot be executed; returns where the worker is gone or a
 * limit cannot be set. `arguments`: from WORKER on. */
int assembler_main(char **arguments);

#endif
