/*
 * segment.c - see segment.h. Until a segment is marked for removal it has a key with KEY_PREFIX, by
 * which the next server finds the segments that a killed server left behind.
 */
#include "common/segment.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_PREFIX 0x47530000 /* "GS", and 16 bits that differ */

static key_t key_next(void)
{
    static _Atomic uint16_t next;

    return KEY_PREFIX | (uint16_t)(getpid() + next++);
}

int segment_key_ours(key_t key)
{
    return (key & ~0xffff) == KEY_PREFIX;
}

#define SEGMENTS_RESERVE 64

int segments_low(void)
{
    struct shminfo limits;
    struct shm_info now;

    if (shmctl(0, IPC_INFO, (struct shmid_ds *)(void *)&limits) < 0 ||
        shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&now) < 0)
        return 0;
    return (unsigned long)now.used_ids + SEGMENTS_RESERVE >= limits.shmmni;
}

/* Makes `uid` the segment's owner. The segment's maker always has the right to both calls. */
static int segment_give(int id, uid_t uid)
{
    struct shmid_ds ds;

    if (uid == geteuid())
        return 0;
    if (shmctl(id, IPC_STAT, &ds) < 0)
        return -errno;
    ds.shm_perm.uid = uid;
    return shmctl(id, IPC_SET, &ds) < 0 ? -errno : 0;
}

int segment_begin(size_t size, mode_t mode, uid_t uid, int *id, void **memory)
{
    int made, r = 0;
    void *at;

    do
        made = shmget(key_next(), size, IPC_CREAT | IPC_EXCL | (int)mode);
    while (made < 0 && errno == EEXIST);
    if (made < 0)
        return -errno;
    at = shmat(made, NULL, 0);
    if (at == (void *)-1)
        r = -errno;
    else
        r = segment_give(made, uid);
    if (r < 0) {
        segment_mark(made);
        if (at != (void *)-1)
            shmdt(at);
        return r;
    }
    *id = made;
    *memory = at;
    return 0;
}

int segment_keep_from_forks(void *memory, size_t size)
{
    int r = madvise(memory, size, MADV_DONTFORK) < 0 ? -errno : 0;

    if (r < 0)
        shmdt(memory);
    return r;
}

void *segment_attach(int id, size_t size)
{
    void *memory = shmat(id, NULL, 0);
    struct shmid_ds about;
    int r;

    if (memory == (void *)-1)
        return NULL;
    if (shmctl(id, IPC_STAT, &about) < 0 || about.shm_segsz != size) {
        shmdt(memory);
        errno = EINVAL;
        return NULL;
    }
    r = segment_keep_from_forks(memory, size);
    errno = -r;
    return r == 0 ? memory : NULL;
}

void segment_mark(int id)
{
    shmctl(id, IPC_RMID, NULL);
}

int segment_make(size_t size, mode_t mode, uid_t uid, int *id, void **memory)
{
    int r = segment_begin(size, mode, uid, id, memory);

    if (r == 0)
        segment_mark(*id);
    return r;
}
