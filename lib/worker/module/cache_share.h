/*
 * cache_share.h - shares of a cache: which users use each item, and which items are evicted when
 * the cache is full. The user with most bytes loses the item that it has not used for longest. So a
 * user that fills a cache displaces its own items, and the items of others stay. An item that
 * several users use counts for each of them, and is evicted when it has no user any more. The
 * callers hold their cache's lock.
 */
#ifndef GS_WORKER_MODULE_CACHE_SHARE_H
#define GS_WORKER_MODULE_CACHE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* The most users of an item: a further user replaces the one that used it longest ago. */
#define CACHE_SHARE_USERS 4u

/* The users of an item. It may lie in memory that outlives the worker. */
struct cache_share {
    uint32_t count; /* 0: the item has no user, and is to be evicted */
    uint32_t uid[CACHE_SHARE_USERS];
    uint64_t used[CACHE_SHARE_USERS]; /* when each used it last, by the cache's clock */
};

struct cache_item {
    struct cache_share *share;
    uint64_t bytes; /* the size that it counts as */
};

/* Notes that the user uses the item at the time `now` of the cache's clock. */
void cache_share_note(struct cache_share *share, uint32_t uid, uint64_t now);
/* Removes users from items until the items that still have a user, together with `more` bytes of
 * the user `uid`, take `most` bytes at most. The caller evicts the items without users. */
void cache_share_evict(const struct cache_item *items, size_t count, uint32_t uid, uint64_t more,
                       uint64_t most);

#endif
