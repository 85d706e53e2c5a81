/* group_members.c - see group_members.h. */
#include "server/state/group_members.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "common/util.h"

struct members {
    uid_t *uid;
    uint32_t count, room;
};

static bool member_add(struct members *members, uid_t uid)
{
    if (members->count == members->room) {
        uint32_t room = members->room ? members->room * 2 : 64;
        uid_t *more = reallocarray(members->uid, room, sizeof(*more));

        if (!more)
            return false;
        members->uid = more;
        members->room = room;
    }
    members->uid[members->count++] = uid;
    return true;
}

bool group_exists(const char *name)
{
    return getgrnam(name) != NULL;
}

/* Adds the users that the group lists. A name without a user is skipped. */
static bool named_add(struct members *members, const struct group *group)
{
    for (char **name = group->gr_mem; *name; name++) {
        const struct passwd *user = getpwnam(*name);

        if (user && !member_add(members, user->pw_uid))
            return false;
    }
    return true;
}

static bool primary_add(struct members *members, gid_t gid)
{
    const struct passwd *user;
    bool good = true;

    setpwent();
    while (good && (user = getpwent()))
        good = user->pw_gid != gid || member_add(members, user->pw_uid);
    endpwent();
    return good;
}

int group_members(const char *name, uid_t **uids, uint32_t *count)
{
    const struct group *group = getgrnam(name);
    struct members members = {0};

    if (!group)
        return -ENOENT;
    if (!named_add(&members, group) || !primary_add(&members, group->gr_gid)) {
        free(members.uid);
        return -ENOMEM;
    }
    *uids = members.uid;
    *count = members.count;
    return 0;
}
