/*
 * cache_share.h - who uses the items of a cache, and which items go when the cache is full. The
 * user that has most loses the item that it has used longest ago. So a user that fills a cache
 * displaces its own items, and the items of others stay. An item that several users use counts for
 * each of them, and goes when it has no user any more. The callers hold their cache's lock.
 */
#ifndef GS_WORKER_MODULE_CACHE_SHARE_H
#define GS_WORKER_MODULE_CACHE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* An item remembers so many users, and forgets the one that used it longest ago. */
#define CACHE_SHARE_USERS 4u

/* The users of an item. It may lie in memory that outlives the worker. */
struct cache_share {
    uint32_t count; /* 0: the item is nobody's, and goes */
    uint32_t uid[CACHE_SHARE_USERS];
    uint64_t used[CACHE_SHARE_USERS]; /* when each used it last, by the cache's clock */
};

struct cache_item {
    struct cache_share *share;
    uint64_t bytes; /* what it counts as */
};

/* Notes that the user uses the item. */
void cache_share_note(struct cache_share *share, uint32_t uid, uint64_t now);
/* Ends users' parts in items until the items that still have a user and `more` bytes of that user
 * take `most` bytes at most. */
void cache_share_evict(const struct cache_item *items, size_t count, uint32_t uid, uint64_t more,
                       uint64_t most);

#endif
