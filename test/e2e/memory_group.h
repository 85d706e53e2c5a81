/*
 * memory_group.h - a control group that bounds the memory of what starts in it. From the test's
 * main thread.
 */
#ifndef GS_TEST_MEMORY_GROUP_H
#define GS_TEST_MEMORY_GROUP_H

#include <stdint.h>

struct memory_group {
    const char *mount; /* where the kernel has its control groups of memory */
    char folder[96];
};

/* Makes a group of so many bytes, and puts this process there: what it starts now is bounded. Skips
 * the test where that is not allowed. */
void memory_group_enter(struct memory_group *group, uint64_t bytes);
/* Takes this process out again; what it has started stays. */
void memory_group_leave(const struct memory_group *group);
/* Removes the group, whose processes have ended. */
void memory_group_remove(const struct memory_group *group);

#endif
