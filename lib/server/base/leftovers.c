/* leftovers.c - see leftovers.h. */
#include "server/base/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/names.h"
#include "common/segment.h"
#include "server/base/reply.h"

/* The file system of queues has this number; no installed header has it. */
#define MQUEUE_MAGIC 0x19800202

/* The kernel may still be ending a killed server's process. */
#define TAKE_TRIES   100
#define TAKE_WAIT_NS 5000000
/* Root removes a queue that another user has put in the way; that user may quickly make it
 * again. */
#define REMOVE_TRIES 1000

/* ---- The lock -------------------------------------------------------------------------------- */

/* Returns whether the queue still has that name. Another server may have removed it before this one
 * locked it. */
static bool queue_current(mqd_t queue, const char *name)
{
    mqd_t again = mq_open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat ours, named;
    bool current;

    if (again < 0)
        return false;
    current = fstat(queue, &ours) == 0 && fstat(again, &named) == 0 &&
              ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    mq_close(again);
    return current;
}

/* Takes the lock, or removes a queue of another user that is in the way. Returns 0, with *queue
 * set, if this process has the lock; -EAGAIN: try again; -EBUSY: another server has it. */
static int lock_try(const char *name, mqd_t *queue)
{
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
    mqd_t q = mq_open(name, O_RDONLY | O_NONBLOCK | O_CREAT | O_CLOEXEC, 0600, &attr);
    struct stat st;
    int r = 0;

    if (q < 0)
        return errno == EACCES ? -EPERM : -errno;
    if (fstat(q, &st) < 0)
        r = -errno;
    else if (st.st_uid != geteuid())
        r = mq_unlink(name) < 0 && errno != ENOENT ? -EPERM : -EAGAIN;
    else if (flock(q, LOCK_EX | LOCK_NB) < 0)
        r = errno == EWOULDBLOCK ? -EBUSY : -errno;
    else if (!queue_current(q, name))
        r = -EAGAIN;
    if (r < 0)
        mq_close(q);
    else
        *queue = q;
    return r;
}

int control_lock_take(const char *name, mqd_t *queue)
{
    int r = -EAGAIN;

    for (int i = 0, waits = 0; i < REMOVE_TRIES && waits < TAKE_TRIES; i++) {
        r = lock_try(name, queue);
        if (r != -EAGAIN && r != -EBUSY)
            return r;
        if (r == -EBUSY && ++waits < TAKE_TRIES)
            nanosleep(&(struct timespec){0, TAKE_WAIT_NS}, NULL);
    }
    return r == -EAGAIN ? -EPERM : r;
}

/* ---- The control queue ----------------------------------------------------------------------- */

/* Locks the queue and sets its mode. Until then no other user can open it. */
static int control_prepare(mqd_t queue, mode_t mode)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    /* The lock belongs to the open queue: closing another descriptor does not drop it. */
    if (fcntl(queue, F_OFD_SETLK, &lock) < 0)
        return -errno;
    return fchmod(queue, mode) < 0 ? -errno : 0; /* the umask does not know who is served */
}

int control_queue_make(const char *name, mode_t mode, mqd_t *queue)
{
    struct mq_attr attr = {.mq_maxmsg = CTL_QUEUE_DEPTH, .mq_msgsize = CTL_MESSAGE_MAX};
    mqd_t made = -1;
    int r = -EEXIST;

    for (int i = 0; i < REMOVE_TRIES && r == -EEXIST; i++) {
        if (mq_unlink(name) < 0 && errno != ENOENT)
            return errno == EACCES ? -EPERM : -errno;
        made = mq_open(name, O_RDONLY | O_NONBLOCK | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
        r = made < 0 ? -errno : control_prepare(made, mode);
    }
    if (r == 0)
        *queue = made;
    else if (made >= 0)
        mq_close(made);
    return r;
}

/* ---- What a killed server left --------------------------------------------------------------- */

/* Queues can be listed only where their file system is mounted. */
static void reply_queues_remove(const char *instance)
{
    char prefix[WIRE_NAME_MAX], name[WIRE_NAME_MAX];
    struct statfs fs;
    struct dirent *entry;
    DIR *dir;

    if (statfs("/dev/mqueue", &fs) < 0 || fs.f_type != MQUEUE_MAGIC)
        return;
    dir = opendir("/dev/mqueue");
    if (!dir)
        return;
    int length = snprintf(prefix, sizeof(prefix), "gshare.%u.%s.r.", (unsigned)geteuid(), instance);
    while ((entry = readdir(dir))) {
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0 ||
            strlen(entry->d_name) != (size_t)length + 16)
            continue;
        snprintf(name, sizeof(name), "/%.78s", entry->d_name);
        if (reply_queue_remove_orphan(name) == ORPHAN_REMOVED)
            log_info("event=leftover-removed queue=%s reason=\"its client was killed\"", name);
    }
    closedir(dir);
}

/* Segments are left behind by servers or workers that were killed between making and marking
 * them. */
void leftover_segments_remove(void)
{
    struct shm_info info;
    struct shmid_ds ds;
    int last = shmctl(0, SHM_INFO, (void *)&info);

    for (int i = 0; i <= last; i++) {
        int id = shmctl(i, SHM_STAT, &ds);
        if (id < 0 || !segment_key_ours(ds.shm_perm.__key) || ds.shm_perm.cuid != geteuid() ||
            ds.shm_nattch || kill(ds.shm_cpid, 0) == 0 || errno != ESRCH)
            continue;
        if (shmctl(id, IPC_RMID, NULL) == 0)
            log_info("event=leftover-removed segment=%d reason=\"who made it was killed\"", id);
    }
}

void leftovers_remove(const char *instance, int devices)
{
    char name[WIRE_BELL_MAX];

    for (int i = 0; i < devices; i++) {
        name_bell(name, geteuid(), instance, i);
        mq_unlink(name);
    }
    reply_queues_remove(instance);
    leftover_segments_remove();
}
