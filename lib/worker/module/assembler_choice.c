/* assembler_choice.c - see assembler_choice.h. */
#include "worker/module/assembler_choice.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "worker/driver/worker.h"
#include "worker/module/assembler_process.h"

/* The path at which NVIDIA's packages install the toolkit's ptxas. */
#define TOOLKITS        "/usr/local/cuda/bin/ptxas"
#define VERSION_SECONDS 10

/* The path of the chosen ptxas; NULL: the driver compiles. It is chosen before the worker has other
 * threads, and becomes NULL for good when the toolkit's ptxas is gone. */
static const char *_Atomic program;

/* The toolkit's ptxas. */
static struct {
    pthread_mutex_t lock; /* protects `seen`, and is held while the file is checked */
    /* The path, with links resolved: a toolkit that replaces the target of a link is another
     * version, which has not been checked. */
    char path[PATH_MAX];
    struct stat seen; /* the file that was checked */
} toolkits = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* relaxed: the path was stored before there were other threads */
static const char *program_load(void)
{
    return atomic_load_explicit(&program, memory_order_relaxed);
}

bool assembler_wanted(void)
{
    return program_load();
}

bool assembler_is_named(void)
{
    return program_load() && program_load() != toolkits.path;
}

uint64_t assembler_version(void)
{
    const char *path = program_load();
    struct stat file;

    return path && stat(path, &file) == 0 ? (uint64_t)file.st_mtime + (uint64_t)file.st_size : 0;
}

/* ---- What may be used ------------------------------------------------------------------------ */

bool assembler_suits(const char *said, unsigned driver)
{
    const char *release = strstr(said, "release ");
    unsigned major, minor;

    return release && sscanf(release, "release %u.%u", &major, &minor) == 2 &&
           major == driver / 1000 && minor >= driver % 1000 / 10;
}

/* Cuts the path, which has no links, to the part that users other than root can change: the file,
 * or a folder in which they could replace the file. False: there is no such part. */
static bool others_part_find(char *path)
{
    struct stat part;
    char *end = path + strlen(path);

    for (;;) {
        *end = '\0';
        if (lstat(*path ? path : "/", &part) != 0 || part.st_uid != 0 ||
            part.st_mode & (S_IWGRP | S_IWOTH))
            break;
        if (!*path)
            return false;
        end = strrchr(path, '/');
    }
    if (!*path)
        memcpy(path, "/", 2);
    return true;
}

/* The reason why a check had no result: memory or time was short, which tenants can cause. */
static const char no_means[] = "memory or time to look at it was short";

/* Returns whether a process that was to tell the version has ended for want of memory or time. */
static bool was_short(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) == ASSEMBLER_NO_MEMORY
                             : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Runs the toolkit's ptxas for its version. Returns why it does not suit, in `text` or a literal;
 * NULL: it suits. */
static const char *version_fault(char *text, size_t size)
{
    CLEANUP_FD int messages = assembler_file_new();
    CLEANUP_FREE char *said = NULL;
    struct rusage used;
    char arch[32];
    char *const arguments[ASSEMBLER_ARGUMENTS_MOST] = {"--version", arch};
    size_t length;
    int driver = 0;
    pid_t pid;

    assembler_architecture("", worker->info.compute_major, worker->info.compute_minor, arch);
    if (messages < 0 || assembler_start(toolkits.path, arguments, -1, -1, messages, &pid) != 0)
        return no_means;
    const int status = assembler_await(NULL, pid, VERSION_SECONDS, &used);
    said = assembler_file_read(messages, size - 1, &length);
    if (!said || was_short(status) || DRV(cuDriverGetVersion, &driver))
        return no_means;
    if (status == 0 && assembler_suits(said, (unsigned)driver))
        return NULL;
    for (char *c = said; *c; c++)
        *c = (char)(*c == '\n' || *c == '"' ? ' ' : *c);
    snprintf(text, size, "%s", status ? said : "it is of another CUDA version than the driver");
    return text;
}

/* Returns why the toolkit's ptxas cannot be used here, in `text` or a literal; NULL: it can. */
static const char *toolkits_fault(char *text, size_t size)
{
    char path[PATH_MAX];

    if (!realpath(toolkits.path, path) || stat(path, &toolkits.seen) != 0)
        return "it is not there";
    if (!S_ISREG(toolkits.seen.st_mode))
        return "it is no file";
    if (others_part_find(path)) {
        snprintf(text, size, "others than root can change %s", path);
        return text;
    }
    return version_fault(text, size);
}

/* ---- The choice ------------------------------------------------------------------------------ */

static void toolkits_take(const char *name, const char *fault)
{
    if (fault) {
        log_info("event=ptxas program=%s used=no reason=\"%s\"", name, fault);
        return;
    }
    atomic_store_explicit(&program, toolkits.path, memory_order_relaxed);
    log_info("event=ptxas program=%s used=yes", toolkits.path);
}

void assembler_choose_toolkits(const char *name)
{
    char text[1024];

    atomic_store_explicit(&program, NULL, memory_order_relaxed);
    toolkits_take(name, realpath(name, toolkits.path) ? toolkits_fault(text, sizeof(text))
                                                      : "it is not there");
}

void assembler_choose(void)
{
    const char *wanted = getenv("GSHARE_PTXAS");

    if (!wanted || !*wanted || strcmp(wanted, "none") == 0)
        return;
    if (strcmp(wanted, "auto") != 0)
        atomic_store_explicit(&program, wanted, memory_order_relaxed);
    else if (worker->machine_code)
        assembler_choose_toolkits(TOOLKITS);
}

/* ---- While the worker runs ------------------------------------------------------------------- */

/* Returns whether the file is the one that was checked, and unchanged. */
static bool toolkits_unchanged(void)
{
    struct stat now;

    return stat(toolkits.path, &now) == 0 && now.st_dev == toolkits.seen.st_dev &&
           now.st_ino == toolkits.seen.st_ino && now.st_size == toolkits.seen.st_size &&
           now.st_ctim.tv_sec == toolkits.seen.st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == toolkits.seen.st_ctim.tv_nsec;
}

/* Checks the toolkit's ptxas again if its file has changed or `failed` is set. Returns the chosen
 * program. */
static const char *toolkits_look(bool failed)
{
    char text[1024];
    const char *fault = NULL;

    pthread_mutex_lock(&toolkits.lock);
    if (program_load() && (failed || !toolkits_unchanged()))
        fault = toolkits_fault(text, sizeof(text));
    if (fault == no_means) {
        toolkits.seen = (struct stat){0}; /* the next compilation checks again */
    } else if (fault) {
        atomic_store_explicit(&program, NULL, memory_order_relaxed);
        log_warning("event=ptxas-lost program=%s reason=\"%s\"", toolkits.path, fault);
    }
    pthread_mutex_unlock(&toolkits.lock);
    return program_load();
}

const char *assembler_program(void)
{
    return program_load() == toolkits.path ? toolkits_look(false) : program_load();
}

bool assembler_lost(void)
{
    return !assembler_is_named() && !toolkits_look(true);
}
