/*
 * cache_share.h - who uses what a cache keeps, and what goes when it is full: always what the user
 * that has most has used longest ago. So a user that fills a cache drives out its own, however
 * much it loads, and what others use stays. An item that several users use counts for each of them,
 * and stays until it is none's. The callers hold their cache's lock.
 */
#ifndef GS_WORKER_MODULE_CACHE_SHARE_H
#define GS_WORKER_MODULE_CACHE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* Of more users of an item the one that used it longest ago is forgotten. */
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
/* Makes items nobody's until the others and `more` bytes of that user are `most` bytes at most. */
void cache_share_evict(const struct cache_item *items, size_t count, uint32_t uid, uint64_t more,
                       uint64_t most);

#endif
