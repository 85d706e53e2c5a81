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

#define TAKE_TRIES   40
#define TAKE_WAIT_NS 5000000

static void take_wait(void)
{
    nanosleep(&(struct timespec){0, TAKE_WAIT_NS}, NULL);
}

/* Takes the lock. Clients hold it shared for the moment of a probe, so one refusal is no verdict.
 */
static int queue_lock(mqd_t queue)
{
    for (int i = 0; i < TAKE_TRIES; i++) {
        if (flock(queue, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return -errno;
        take_wait();
    }
    return -EBUSY;
}

/* The queue is still the one of that name: another server may have removed it before we locked it.
 */
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

/* Makes the queue, or removes a stale one. *queue is set and 0 returned when it is ours; -EAGAIN:
 * once more. */
static int queue_try(const char *name, mode_t mode, mqd_t *queue)
{
    struct mq_attr attr = {.mq_maxmsg = CTL_QUEUE_DEPTH, .mq_msgsize = CTL_MESSAGE_MAX};
    int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
    bool made = true;
    mqd_t q = mq_open(name, flags | O_CREAT | O_EXCL, mode, &attr);
    int r;

    if (q < 0 && errno == EEXIST) {
        made = false;
        q = mq_open(name, flags);
    }
    if (q < 0)
        return errno == ENOENT ? -EAGAIN : -errno;
    r = queue_lock(q);
    if (r == 0 && !queue_current(q, name))
        r = -EAGAIN;
    if (r == 0 && !made) {
        log_info("removing the queues of a server that was killed");
        r = mq_unlink(name) < 0 && errno != ENOENT ? -errno : -EAGAIN;
    }
    /* The umask does not know who is served. */
    if (r == 0 && fchmod(q, mode) < 0)
        r = -errno;
    if (r < 0) {
        mq_close(q);
        return r;
    }
    *queue = q;
    return 0;
}

int control_queue_take(const char *name, mode_t mode, mqd_t *queue)
{
    int r = -EAGAIN;

    for (int i = 0; i < TAKE_TRIES && r == -EAGAIN; i++)
        r = queue_try(name, mode, queue);
    return r == -EAGAIN ? -EBUSY : r;
}

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
    int length = snprintf(prefix, sizeof(prefix), "gshare.%s.r.", instance);
    while ((entry = readdir(dir))) {
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0 ||
            strlen(entry->d_name) != (size_t)length + 16)
            continue;
        snprintf(name, sizeof(name), "/%.62s", entry->d_name);
        if (reply_queue_remove_orphan(name) == ORPHAN_REMOVED)
            log_info("removed %s, left by a client that was killed", name);
    }
    closedir(dir);
}

/* A server or a worker can be killed between making a segment and marking it for removal. */
static void segments_remove(void)
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
            log_info("removed segment %d, left by a server that was killed", id);
    }
}

void leftovers_remove(const char *instance, int devices)
{
    char name[WIRE_NAME_MAX];

    for (int i = 0; i < devices; i++) {
        name_bell(name, instance, i);
        mq_unlink(name);
    }
    reply_queues_remove(instance);
    segments_remove();
}
