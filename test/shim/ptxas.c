/*
 * ptxas.c - stands where NVIDIA's assembler would, for tests on the software device, whose machine
 * code is text: copies its input to its output. What is in the text makes it refuse, crash, never
 * end, or try what its sandbox forbids. It starts no process, as NVIDIA's does not.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED 255
#define ENDLESS "assembler_runs_on_"

/* Without what exit does: a sanitizer's look for leaks starts a process. */
static _Noreturn void end(const char *said, int status)
{
    if (said)
        dprintf(STDERR_FILENO, "%s\n", said);
    _exit(status);
}

/* What is in the file, with a NUL behind it. */
static char *read_all(const char *path, size_t *size)
{
    const int fd = open(path, O_RDONLY);
    struct stat status;
    char *text;

    if (fd < 0 || fstat(fd, &status) != 0)
        end("ptxas: no input", REFUSED);
    text = calloc(1, (size_t)status.st_size + 1);
    *size = (size_t)status.st_size;
    for (size_t at = 0; at < *size;) {
        const ssize_t n = text ? read(fd, text + at, *size - at) : -1;
        if (n <= 0)
            end("ptxas: the input cannot be read", REFUSED);
        at += (size_t)n;
    }
    return text;
}

/* Executes itself with the word on its command line, and never ends. */
static void run_on(const char *self, const char *word)
{
    char name[64];

    snprintf(name, sizeof(name), "%s%lu", ENDLESS, strtoul(word + strlen(ENDLESS), NULL, 10));
    execl(self, self, name, NULL);
    end("it cannot execute itself", REFUSED);
}

static bool opens(const char *path, int flags)
{
    return open(path, flags) >= 0;
}

static bool forks(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static bool spawns(void)
{
    const pid_t pid = vfork();

    if (pid == 0)
        _exit(0);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

/* Does what the text has it do beside compiling. */
static void misbehave(const char *self, const char *text)
{
    if (strstr(text, "assembler_refuses"))
        end("ptxas: no", REFUSED);
    if (strstr(text, "assembler_crashes"))
        kill(getpid(), SIGSEGV);
    if (strstr(text, ENDLESS))
        run_on(self, strstr(text, ENDLESS));
    if (strstr(text, "assembler_signals"))
        end(kill(getppid(), 0) == 0 ? "it can signal the worker" : "it cannot", REFUSED);
    if (strstr(text, "assembler_forks"))
        end(forks() || spawns() ? "it can start a process" : "it cannot", REFUSED);
    if (strstr(text, "assembler_opens"))
        end(opens("/etc/passwd", O_RDONLY)     ? "it can read"
            : opens(self, O_WRONLY | O_APPEND) ? "it can write"
                                               : "no more",
            REFUSED);
    if (strstr(text, "assembler_is_silent"))
        end(NULL, 0);
}

/* NVIDIA's makes a kernel by a file there. */
static void kernel_make(void)
{
    char path[64];

    snprintf(path, sizeof(path), "/tmp/tmpxft_%d", (int)getpid());
    if (open(path, O_WRONLY | O_CREAT, 0600) < 0)
        end("ptxas: no temporary file", REFUSED);
}

int main(int argc, char **argv)
{
    const char *input = NULL, *output = NULL;
    size_t size;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-o") && i + 1 < argc)
            output = argv[++i];
        else if (argv[i][0] != '-')
            input = argv[i];
    }
    while (input && strstr(input, ENDLESS))
        pause();
    if (!input || !output)
        end("ptxas: no files", REFUSED);
    char *text = read_all(input, &size);
    misbehave(argv[0], text);
    if (!strstr(text, ".entry"))
        kernel_make();
    const int fd = open(output, O_WRONLY | O_TRUNC);
    if (fd < 0 || write(fd, text, size + 1) != (ssize_t)size + 1)
        end("ptxas: the output cannot be written", REFUSED);
    end(NULL, 0);
}
