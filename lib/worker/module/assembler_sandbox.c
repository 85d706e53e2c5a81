/* assembler_sandbox.c - see assembler_sandbox.h. Landlock keeps the process off files, and off
 * others' memory by ptrace; seccomp refuses the system calls that reach others in another way. */
#include "worker/module/assembler_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util.h"

/* ---- Files ----------------------------------------------------------------------------------- */

/* All accesses of Landlock's first version. Later ones (to move between folders, to truncate) fall
 * under what may not be opened for writing. */
#define READ      (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define READ_TREE (READ | LANDLOCK_ACCESS_FS_READ_DIR)
#define ANY       (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)

/* The folders are links into /usr on most systems, and may not be there. */
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
    const struct landlock_ruleset_attr handled = {.handled_access_fs = ANY};
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
#define OTHER_CALLS  0x40000000u /* from this number on they are those of x32 */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_CALLS  UINT32_MAX
#endif

/* What reaches other processes, a network, or large parts of the kernel that no compiler needs. The
 * list names what is refused and not what is allowed, since another ptxas may use other calls. */
static const uint32_t refused[] = {
    /* Signals, and other processes' memory, descriptors, limits and scheduling. */
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal,
    SYS_pidfd_getfd, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,
    SYS_kcmp, SYS_setpriority, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
    SYS_sched_setattr, SYS_ioprio_set, SYS_migrate_pages, SYS_move_pages,
    /* Sockets, queues, segments, keys. */
    SYS_socket, SYS_mq_open, SYS_mq_unlink, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget,
    SYS_semctl, SYS_msgget, SYS_msgctl, SYS_add_key, SYS_request_key, SYS_keyctl,
    /* Parts of the kernel. */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_unshare, SYS_setns,
    SYS_mount, SYS_fanotify_init};

/* Those that take the number of a process first, by which they reach others. */
static const uint32_t own_alone[] = {SYS_kill, SYS_tgkill, SYS_prlimit64};

#define WORD(member)         ((uint32_t)offsetof(struct seccomp_data, member))
#define LOAD(member)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(member))
#define REFUSE               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Skips `count` instructions unless what is loaded equals the value. */
#define UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define IF(value, count)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (count), 0)

static bool calls_refuse(void)
{
#ifdef ARCHITECTURE
    struct sock_filter code[8 + 2 * ARRAY_SIZE(refused) + 6 * ARRAY_SIZE(own_alone)];
    struct sock_fprog filter = {.filter = code};
    size_t n = 0;

#define PUT(instruction) code[n++] = (struct sock_filter)instruction
    PUT(LOAD(arch));
    PUT(IF(ARCHITECTURE, 1));
    PUT(REFUSE);
    PUT(LOAD(nr));
    PUT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1));
    PUT(REFUSE);
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        PUT(UNLESS(refused[i], 1));
        PUT(REFUSE);
    }
    for (size_t i = 0; i < ARRAY_SIZE(own_alone); i++) {
        PUT(UNLESS(own_alone[i], 5));
        PUT(LOAD(args[0])); /* its low word, on both architectures */
        PUT(IF(0, 2));
        PUT(IF((uint32_t)getpid(), 1));
        PUT(REFUSE);
        PUT(ALLOW);
    }
    PUT(ALLOW);
#undef PUT
    filter.len = (unsigned short)n;
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
#else
    return true;
#endif
}

bool sandbox_enter(const char *program)
{
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && files_close(program) && calls_refuse();
}
