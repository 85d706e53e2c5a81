/* group_members.h - finds the members of a Unix group, for the policy file. It may ask the network
 * (NSS), so it is called only at the server's start and in a thread of its own (policy_file.c). One
 * thread at a time.
 */
#ifndef GS_SERVER_GROUP_MEMBERS_H
#define GS_SERVER_GROUP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether there is a group of this name. */
bool group_exists(const char *name);
/* Sets *uids, which the caller frees, to the members: the users whom the group lists and those
 * whose primary group it is. A user may come twice. Returns 0, -ENOMEM, or -ENOENT if there is no
 * such group. */
int group_members(const char *name, uid_t **uids, uint32_t *count);

#endif
