/* group_members.h - who is in a Unix group, for the policy file. It may ask the network (NSS), so
 * it is for the server's start and for a thread of its own (policy_file.c). One thread at a time.
 */
#ifndef GS_SERVER_GROUP_MEMBERS_H
#define GS_SERVER_GROUP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether there is a group of this name. */
bool group_exists(const char *name);
/* Fills *uids, the caller's to free, with the members: those that the group names and those whose
 * own group it is; a user may come twice. -ENOMEM, or -ENOENT where there is no such group. */
int group_members(const char *name, uid_t **uids, uint32_t *count);

#endif
