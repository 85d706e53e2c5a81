/*
 * status_page.c - see status_page.h.
 *
 * The kernel walks a thread's robust list when it dies, however it dies, and sets FUTEX_OWNER_DIED
 * in each futex of the list that holds the thread's id. The list's one entry is a private variable;
 * futex_offset leads from it to the owner word in the shared page.
 */
#include "server/base/status_page.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/segment.h"

static struct robust_list robust_entry;
static struct robust_list_head robust_head;

static int robust_register(_Atomic uint32_t *owner)
{
    robust_entry.next = &robust_head.list;
    robust_head.list.next = &robust_entry;
    robust_head.futex_offset = (char *)owner - (char *)&robust_entry;
    /* In place of libc's own list, which only robust mutexes use: the supervisor has none. */
    return syscall(SYS_set_robust_list, &robust_head, sizeof(robust_head)) < 0 ? -errno : 0;
}

int status_page_init(struct status_map *map, const char *instance, bool open_to_all)
{
    int mode = S_IRUSR | S_IWUSR | (open_to_all ? S_IRGRP | S_IROTH : 0);
    struct status_page *page;
    void *memory;
    int id, r = segment_make(sizeof(*page), (mode_t)mode, geteuid(), &id, &memory);

    if (r < 0)
        return r;
    page = memory;
    page->magic = WIRE_MAGIC;
    page->version = WIRE_VERSION;
    page->server_pid = getpid();
    snprintf(page->instance, sizeof(page->instance), "%s", instance);
    atomic_store_explicit(&page->owner, (uint32_t)syscall(SYS_gettid), memory_order_relaxed);
    r = robust_register(&page->owner);
    if (r < 0) {
        shmdt(page);
        return r;
    }
    map->page = page;
    map->id = id;
    return 0;
}

void status_page_pause(void)
{
    robust_head.list.next = &robust_head.list;
}

int status_page_go_on(const struct status_map *map)
{
    return robust_register(&map->page->owner);
}

bool status_page_restore(struct status_map *map)
{
    void *memory = shmat(map->id, NULL, 0);

    if (memory == (void *)-1)
        return false;
    map->page = memory;
    return true;
}

void status_page_end(struct status_map *map)
{
    if (map->page)
        atomic_store_explicit(&map->page->owner, STATUS_OWNER_DIED, memory_order_relaxed);
}
