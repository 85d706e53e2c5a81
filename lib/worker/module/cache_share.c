/* cache_share.c - see cache_share.h. */
#include "worker/module/cache_share.h"

#include <stdlib.h>

#include "common/util.h"

struct account {
    uint32_t uid;
    uint64_t bytes;
};

struct accounts {
    struct account *account;
    size_t count;
};

void cache_share_note(struct cache_share *share, uint32_t uid, uint64_t now)
{
    uint32_t at = 0;

    while (at < share->count && share->uid[at] != uid)
        at++;
    if (at == CACHE_SHARE_USERS) {
        at = 0;
        for (uint32_t i = 1; i < CACHE_SHARE_USERS; i++)
            at = share->used[i] < share->used[at] ? i : at;
    } else if (at == share->count) {
        share->count++;
    }
    share->uid[at] = uid;
    share->used[at] = now;
}

static void account_add(struct accounts *accounts, uint32_t uid, uint64_t bytes)
{
    size_t i = 0;

    while (i < accounts->count && accounts->account[i].uid != uid)
        i++;
    if (i == accounts->count)
        accounts->account[accounts->count++] = (struct account){.uid = uid};
    accounts->account[i].bytes += bytes;
}

static struct account *account_most(const struct accounts *accounts)
{
    struct account *most = accounts->account;

    for (size_t i = 1; i < accounts->count; i++) {
        if (accounts->account[i].bytes > most->bytes)
            most = &accounts->account[i];
    }
    return most;
}

/* Removes the user from the item that it has not used for longest. Returns the item; NULL: the user
 * uses none. */
static const struct cache_item *take_oldest(const struct cache_item *items, size_t count,
                                            uint32_t uid)
{
    const struct cache_item *oldest = NULL;
    uint32_t oldest_user = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cache_share *share = items[i].share;
        for (uint32_t u = 0; u < share->count; u++) {
            if (share->uid[u] == uid &&
                (!oldest || share->used[u] < oldest->share->used[oldest_user])) {
                oldest = &items[i];
                oldest_user = u;
            }
        }
    }
    if (oldest) {
        const uint32_t last = --oldest->share->count;
        oldest->share->uid[oldest_user] = oldest->share->uid[last];
        oldest->share->used[oldest_user] = oldest->share->used[last];
    }
    return oldest;
}

/* `more` counts for its user from the beginning, so it displaces no item of a user who has less
 * than this user will have. */
void cache_share_evict(const struct cache_item *items, size_t count, uint32_t uid, uint64_t more,
                       uint64_t most)
{
    CLEANUP_FREE struct account *room = calloc(count * CACHE_SHARE_USERS + 1, sizeof(*room));
    struct accounts accounts = {.account = room};
    uint64_t bytes = more;

    for (size_t i = 0; i < count; i++) {
        if (items[i].share->count == 0)
            continue; /* a worker ended while it evicted this item */
        bytes += items[i].bytes;
        for (uint32_t u = 0; room && u < items[i].share->count; u++)
            account_add(&accounts, items[i].share->uid[u], items[i].bytes);
        if (!room) /* no memory to choose items: all are evicted */
            items[i].share->count = 0;
    }
    if (room)
        account_add(&accounts, uid, more);
    while (room && bytes > most) {
        struct account *account = account_most(&accounts);
        const struct cache_item *item = take_oldest(items, count, account->uid);
        if (!item) { /* the user has no item, only `more` */
            account->bytes = 0;
            if (account_most(&accounts)->bytes == 0)
                return;
            continue;
        }
        account->bytes -= item->bytes;
        bytes -= item->share->count == 0 ? item->bytes : 0;
    }
}
