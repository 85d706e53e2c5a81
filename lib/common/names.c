/* names.c - see names.h. */
#include "common/names.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/siphash.h"

#define NAME_REPLY_KEY 0x796c7065722e7367u /* "gs.reply" */
#define USER_MAX       256u
#define USER_ROOM      16384u /* for the strings of one entry of the user database */

bool instance_valid(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(name);

    return n > 0 && n <= WIRE_INSTANCE_MAX && strspn(name, allowed) == n;
}

bool user_parse(const char *user, uid_t *uid)
{
    char room[USER_ROOM], *end;
    struct passwd entry, *found = NULL;
    unsigned long number;

    if (getpwnam_r(user, &entry, room, sizeof(room), &found) == 0 && found) {
        *uid = found->pw_uid;
        return true;
    }
    errno = 0;
    number = strtoul(user, &end, 10);
    if (errno || !isdigit((unsigned char)*user) || *end || number >= UINT32_MAX)
        return false;
    *uid = (uid_t)number;
    return true;
}

const char *user_text(char out[USER_TEXT_MAX], uid_t uid)
{
    char room[USER_ROOM];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(uid, &entry, room, sizeof(room), &found) == 0 && found)
        snprintf(out, USER_TEXT_MAX, "user %.32s", found->pw_name);
    else
        snprintf(out, USER_TEXT_MAX, "uid %u", (unsigned)uid);
    return out;
}

const char *instance_parse(const char *text, struct instance *instance)
{
    const char *colon = strchr(text, ':'), *name = colon ? colon + 1 : text;
    struct instance made = {.owned = colon != NULL};
    char user[USER_MAX];

    if (!instance_valid(name))
        return "1 to 31 letters, digits, '-' and '_'; for another user's server USER:NAME";
    if (colon) {
        snprintf(user, sizeof(user), "%.*s", (int)(colon - text), text);
        if ((size_t)(colon - text) >= sizeof(user) || !user_parse(user, &made.owner))
            return "there is no such user";
    }
    snprintf(made.name, sizeof(made.name), "%s", name);
    *instance = made;
    return NULL;
}

void name_control(char out[WIRE_NAME_MAX], uid_t owner, const char *instance)
{
    snprintf(out, WIRE_NAME_MAX, "/gshare.%u.%.31s", (unsigned)owner, instance);
}

void name_lock(char out[WIRE_NAME_MAX], uid_t owner, const char *instance)
{
    snprintf(out, WIRE_NAME_MAX, "/gshare.%u.%.31s.lock", (unsigned)owner, instance);
}

void name_bell(char out[WIRE_BELL_MAX], uid_t owner, const char *instance, int device)
{
    snprintf(out, WIRE_BELL_MAX, "/gshare.%u.%.31s.bell.%d", (unsigned)owner, instance, device);
}

void name_reply(char out[WIRE_NAME_MAX], uid_t owner, const char *instance, uint64_t token)
{
    const uint64_t key[2] = {token, NAME_REPLY_KEY};

    snprintf(out, WIRE_NAME_MAX, "/gshare.%u.%.31s.r.%016" PRIx64, (unsigned)owner, instance,
             siphash(key, instance, strlen(instance)));
}
