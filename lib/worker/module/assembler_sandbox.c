/* assembler_sandbox.c - see assembler_sandbox.h. Landlock keeps the process from files, and from
 * other processes' memory by ptrace. seccomp refuses the system calls that reach other processes in
 * another way, and those that change files in ways that Landlock does not refuse. */
#include "worker/module/assembler_sandbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util.h"

/* ---- Files ----------------------------------------------------------------------------------- */

#define READ             (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define READ_TREE        (READ | LANDLOCK_ACCESS_FS_READ_DIR)
/* All rights of Landlock's first version, which refuses moves between folders in any case. */
#define ANY              (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)
/* Before this version Landlock does not refuse to truncate a file that may be read. Older headers
 * lack LANDLOCK_ACCESS_FS_TRUNCATE. */
#define TRUNCATE_VERSION 3
#define TRUNCATE         (UINT64_C(1) << 14)

/* The folders that may be read. They are links into /usr on most systems, and may be missing. */
static const char *const trees[] = {"/usr", "/lib", "/lib64", "/bin"};

static bool path_allow(int ruleset, const char *path, uint64_t access)
{
    CLEANUP_FD int fd = open(path, O_PATH | O_CLOEXEC);
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};

    if (fd < 0)
        return errno == ENOENT;
    return !syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static bool files_close(const char *program)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const struct landlock_ruleset_attr handled = {
        .handled_access_fs = ANY | (version >= TRUNCATE_VERSION ? TRUNCATE : 0)};
    CLEANUP_FD int ruleset =
        (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);

    if (ruleset < 0)
        return errno == ENOSYS || errno == EOPNOTSUPP;
    for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
        if (!path_allow(ruleset, trees[i], READ_TREE))
            return false;
    }
    return path_allow(ruleset, "/etc/ld.so.cache", LANDLOCK_ACCESS_FS_READ_FILE) &&
           path_allow(ruleset, "/dev/null",
                      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE) &&
           path_allow(ruleset, program, READ) && !syscall(SYS_landlock_restrict_self, ruleset, 0);
}

/* ---- System calls ---------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_CALLS  0x40000000u /* higher numbers are calls of x32 */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_CALLS  UINT32_MAX
#endif

/* The calls that reach other processes, a network, or large parts of the kernel that no compiler
 * needs. The list names refused calls, not allowed ones, since another version of ptxas may use
 * other calls. */
static const uint32_t refused[] = {
    /* Signals, and other processes' memory, descriptors, limits and scheduling. */
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal,
    SYS_pidfd_getfd, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,
    SYS_kcmp, SYS_setpriority, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
    SYS_sched_setattr, SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages,
    /* Leaving the process group, by which the worker kills this process. */
    SYS_setpgid, SYS_setsid,
    /* Sockets, queues, segments, keys. A process that guesses the id of a System V queue or
     * semaphore can use it without the call that looks it up. */
    SYS_socket, SYS_socketpair, SYS_mq_open, SYS_mq_unlink, SYS_shmget, SYS_shmat, SYS_shmctl,
    SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
    SYS_msgctl, SYS_add_key, SYS_request_key, SYS_keyctl,
    /* Changes of files that Landlock does not refuse. Old headers have no names for the last four:
     * fchmodat2, setxattrat, removexattrat, file_setattr. */
    SYS_truncate, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    452, 463, 466, 469,
    /* Large parts of the kernel. */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_unshare, SYS_setns,
    SYS_mount, SYS_fanotify_init};

/* Calls that take a process id first. They are allowed for the process itself only. */
static const uint32_t own_alone[] = {SYS_kill, SYS_tgkill, SYS_prlimit64};

/* The flags that a clone must have, so that it makes a thread: another process would have limits of
 * memory and CPU time of its own, and would outlive this one when the worker is lost; ptxas 13.0
 * starts none. And the flags that it must not have, which make namespaces. */
#define CLONES_THREAD (CLONE_THREAD | CLONE_VM)
#define CLONES_REFUSED                                                                             \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

#define WORD(member)         ((uint32_t)offsetof(struct seccomp_data, member))
#define LOAD(member)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(member))
#define FAIL(error)          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE               FAIL(EPERM)
#define ALLOW                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Skips `count` instructions unless the loaded word equals the value. */
#define UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define IF(value, count)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (count), 0)

#ifdef ARCHITECTURE
struct filter {
    struct sock_filter code[256];
    unsigned short length;
};
#define PUT(instruction) filter->code[filter->length++] = (struct sock_filter)instruction

static void refused_put(struct filter *filter)
{
    static_assert(2 * ARRAY_SIZE(refused) + 6 * ARRAY_SIZE(own_alone) + 32 <=
                      ARRAY_SIZE(filter->code),
                  "room in the filter");

    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        PUT(UNLESS(refused[i], 1));
        PUT(REFUSE);
    }
}

/* The filter loads an argument's low word, which comes first on both architectures. It is all that
 * the kernel uses of these arguments. */
static void own_alone_put(struct filter *filter)
{
    for (size_t i = 0; i < ARRAY_SIZE(own_alone); i++) {
        PUT(UNLESS(own_alone[i], 5));
        PUT(LOAD(args[0]));
        PUT(IF(0, 2));
        PUT(IF((uint32_t)getpid(), 1));
        PUT(REFUSE);
        PUT(ALLOW);
    }
}

/* clone3 has its flags in memory, which no filter can read, so it fails with ENOSYS: then the C
 * library makes threads by clone. */
static void clone_put(struct filter *filter)
{
    PUT(UNLESS(SYS_clone3, 1));
    PUT(FAIL(ENOSYS));
#ifdef __x86_64__
    PUT(IF(SYS_fork, 1));
    PUT(UNLESS(SYS_vfork, 1));
    PUT(REFUSE);
#endif
    PUT(UNLESS(SYS_clone, 5));
    PUT(LOAD(args[0]));
    PUT(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, CLONES_THREAD | CLONES_REFUSED));
    PUT(IF(CLONES_THREAD, 1));
    PUT(REFUSE);
    PUT(ALLOW);
}

/* Refuses to set the owner of a descriptor, which gets the signals that the opener of the
 * descriptor chooses. */
static void fcntl_put(struct filter *filter)
{
    PUT(UNLESS(SYS_fcntl, 5));
    PUT(LOAD(args[1]));
    PUT(IF(F_SETOWN, 1));
    PUT(UNLESS(F_SETOWN_EX, 1));
    PUT(REFUSE);
    PUT(ALLOW);
}

/* Refuses to change the parent-death signal, by which the process ends with the worker. */
static void prctl_put(struct filter *filter)
{
    PUT(UNLESS(SYS_prctl, 4));
    PUT(LOAD(args[0]));
    PUT(UNLESS(PR_SET_PDEATHSIG, 1));
    PUT(REFUSE);
    PUT(ALLOW);
}

static void filter_make(struct filter *filter)
{
    PUT(LOAD(arch));
    PUT(IF(ARCHITECTURE, 1));
    PUT(REFUSE);
    PUT(LOAD(nr));
    PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1));
    PUT(REFUSE);
    refused_put(filter);
    own_alone_put(filter);
    clone_put(filter);
    fcntl_put(filter);
    prctl_put(filter);
    PUT(ALLOW);
}
#endif

static bool calls_refuse(void)
{
#ifdef ARCHITECTURE
    struct filter filter = {.length = 0};

    filter_make(&filter);
    const struct sock_fprog program = {.len = filter.length, .filter = filter.code};
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#else
    return true;
#endif
}

bool sandbox_enter(const char *program)
{
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && files_close(program) && calls_refuse();
}
