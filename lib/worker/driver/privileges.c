/*
 * privileges.c - which privileges the worker gives up at its start, and which it keeps:
 *   - user      root's worker becomes the user that $GSHARE_WORKER_USER names, else "gshare" if
 *               there is one; else it stays root's, who may write root's files
 *   - CAP_IPC_OWNER   kept by a worker that has become another user, to attach the segments of
 *               sessions, which belong to their tenants and were made by root. Root's own worker
 *               attaches them as their maker
 *   - all other capabilities   dropped, also from the bounding set. The device nodes are
 *               everybody's or their group's (the driver opens some of them late); memory for the
 *               device is pinned without CAP_IPC_LOCK; and the lanes' priority needs no
 *               CAP_SYS_NICE once RLIMIT_NICE allows it. Where root may not raise that limit, as
 *               in many containers, the worker keeps CAP_SYS_NICE if it has it
 *   - new privileges   no program that is executed gets any
 *   - core dumps, ptrace, /proc/PID/mem   disabled, so that no other process of the same user reads
 *               tenants' data here
 *   - descriptors   closed, where the supervisor's parent left them open
 *
 * The code uses raw system calls, because the C library has no capset.
 */
#include "worker/driver/privileges.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/link.h"
#include "common/log.h"

#define USER_DEFAULT "gshare"
#define NICE_LEAST   (-10) /* of a lane (loop/lanes.c) */
#define CAP(number)  (UINT64_C(1) << (number))

static bool failed(char *text, size_t size, const char *what)
{
    snprintf(text, size, "the worker cannot drop its privileges: %s: %s", what, strerror(errno));
    return false;
}

/* Has a child initialise the driver first, if device nodes are missing: the driver makes these by a
 * program of root's (nvidia-modprobe), which it cannot do once the privileges are dropped. */
static void nodes_make(const char *kind)
{
    if (!strcmp(kind, "soft") || access("/dev/nvidia-uvm", F_OK) == 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        int (*init)(unsigned) = NULL;

        if (library)
            *(void **)(void *)&init = dlsym(library, "cuInit");
        _exit(init ? init(0) : 1);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Sets the limits. Returns the capability to keep in place of a limit that could not be raised. */
static uint64_t limits_set(void)
{
    const struct rlimit no_core = {0, 0}, nice = {20 - NICE_LEAST, 20 - NICE_LEAST};

    setrlimit(RLIMIT_CORE, &no_core);
    return setrlimit(RLIMIT_NICE, &nice) ? CAP(CAP_SYS_NICE) : 0;
}

void descriptors_close(void)
{
    if (syscall(SYS_close_range, LINK_CODE_FD + 1, ~0u, 0))
        log_debug("descriptors stay open: close_range: %s", strerror(errno));
}

void descriptors_close_but(int descriptor)
{
    if (descriptor > STDERR_FILENO + 1)
        syscall(SYS_close_range, STDERR_FILENO + 1, (unsigned)descriptor - 1, 0);
    syscall(SYS_close_range, (unsigned)descriptor + 1, ~0u, 0);
}

/* Finds the user to become; NULL: none. False: $GSHARE_WORKER_USER names no user. */
static bool user_find(const struct passwd **user, char *text, size_t size)
{
    const char *name = getenv("GSHARE_WORKER_USER");

    if (name && !*name)
        name = NULL;
    *user = geteuid() == 0 || name ? getpwnam(name ? name : USER_DEFAULT) : NULL;
    if (!name || *user)
        return true;
    snprintf(text, size, "the worker cannot become user %s: no user of that name", name);
    return false;
}

static bool user_become(const struct passwd *user, char *text, size_t size)
{
    if (user->pw_uid == geteuid())
        return true;
    if (prctl(PR_SET_KEEPCAPS, 1) || initgroups(user->pw_name, user->pw_gid) ||
        setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
        return failed(text, size, "becoming another user");
    setenv("HOME", user->pw_dir, 1);
    /* The change of user has cleared this setting. A supervisor that ended meanwhile is noticed by
     * its closed link. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return true;
}

/* Drops the bounding set. Called before the user changes, which takes CAP_SETPCAP away. Users other
 * than root do not have that capability, and no program that they execute can gain capabilities
 * either. */
static void bounding_set_drop(void)
{
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
        prctl(PR_CAPBSET_DROP, cap);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* Keeps those capabilities of `keep` that the process has, and drops all others. */
static bool capabilities_set(uint64_t keep, char *text, size_t size)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    if (syscall(SYS_capget, &header, data))
        return failed(text, size, "capget");
    for (unsigned i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(keep >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &header, data))
        return failed(text, size, "capset");
    return true;
}

/* The last steps of dropping privileges, for the worker and for its children. */
static bool privileges_seal(uint64_t keep, char *text, size_t size)
{
    if (!capabilities_set(keep, text, size))
        return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return failed(text, size, "no_new_privs");
    if (prctl(PR_SET_DUMPABLE, 0))
        return failed(text, size, "dumpable");
    return true;
}

bool privileges_drop_all(char *text, size_t size)
{
    bounding_set_drop();
    return privileges_seal(0, text, size);
}

bool privileges_drop(const char *kind, char *text, size_t size)
{
    const struct passwd *user;

    if (!user_find(&user, text, size))
        return false;
    nodes_make(kind);
    uint64_t keep = limits_set();
    const bool root = geteuid() == 0;
    if (root && !user)
        log_debug("there is no user " USER_DEFAULT ": the worker stays root's");
    bounding_set_drop();
    if (user && !user_become(user, text, size))
        return false;
    if (root && geteuid() != 0)
        keep |= CAP(CAP_IPC_OWNER);
    return privileges_seal(keep, text, size);
}
