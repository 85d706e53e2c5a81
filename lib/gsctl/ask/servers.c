/* servers.c - see servers.h. */
#include "gsctl/ask/servers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "common/names.h"

/* The size of the members with which pages of all versions begin, up to server_pid. */
#define PAGE_HEAD offsetof(struct status_page, trusts)
/* All other segments of a server are larger. */
#define PAGE_MOST 4096u

/* Reads a page. Returns false if the segment is no status page, or if its server has ended. The
 * segment may be any user's, so the text is checked. */
static bool page_read(int id, const struct shmid_ds *about, struct server_found *found)
{
    const void *memory = shmat(id, NULL, SHM_RDONLY);
    const struct status_page *page = memory;
    bool good;

    if (memory == (const void *)-1)
        return false;
    good = page->magic == WIRE_MAGIC &&
           !(atomic_load_explicit(&page->owner, memory_order_relaxed) & STATUS_OWNER_DIED);
    if (good) {
        *found = (struct server_found){.owner = about->shm_perm.cuid, .pid = page->server_pid};
        if (page->version == WIRE_VERSION && about->shm_segsz >= sizeof(*page))
            memcpy(found->instance, page->instance, sizeof(found->instance) - 1);
        good = !*found->instance || instance_valid(found->instance);
    }
    shmdt(memory);
    return good;
}

/* Reads up to `most` pages, in no order, and returns their number. */
static size_t pages_read(struct server_found *found, size_t most)
{
    struct shm_info info;
    struct shmid_ds about;
    size_t count = 0;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

    for (int i = 0; i <= last && count < most; i++) {
        int id = shmctl(i, SHM_STAT, &about); /* fails if this user may not read it */

        if (id < 0 || about.shm_segsz < PAGE_HEAD || about.shm_segsz > PAGE_MOST)
            continue;
        count += page_read(id, &about, &found[count]);
    }
    return count;
}

static int order(const void *a, const void *b)
{
    const struct server_found *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return strcmp(x->instance, y->instance);
}

size_t servers_find(struct server_found found[SERVERS_MAX])
{
    size_t count = pages_read(found, SERVERS_MAX);

    qsort(found, count, sizeof(*found), order);
    return count;
}

bool servers_any(void)
{
    struct server_found found;

    return pages_read(&found, 1) == 1;
}
