/* names.h - reads an instance's name, and makes the names of its queues, which wire_base.h lists.
 * Any thread. */
#ifndef GS_COMMON_NAMES_H
#define GS_COMMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

/* An instance as a user names it: "NAME" or "USER:NAME". */
struct instance {
    bool owned; /* USER was given: only that user's server is meant */
    uid_t owner;
    char name[WIRE_INSTANCE_MAX + 1];
};

/* Finds the uid of a user given by name or number. Returns false if there is no such user. May ask
 * the system's user database, which may block. */
bool user_parse(const char *user, uid_t *uid);
/* Writes, for a message, "user NAME", or "uid N" if the uid has no name. May block as user_parse
 * does. */
#define USER_TEXT_MAX 48u
const char *user_text(char out[USER_TEXT_MAX], uid_t uid);
/* Returns true for 1 to WIRE_INSTANCE_MAX characters of [A-Za-z0-9_-]. Queue names contain the
 * name. */
bool instance_valid(const char *name);
/* Reads either form of struct instance; USER is a name or a number. Returns NULL on success, else a
 * text for a message: the rule for names, or that there is no such user. */
const char *instance_parse(const char *text, struct instance *instance);

/* Each function writes the name of an instance's queue or lock. `owner` is the server's user. */
void name_control(char out[WIRE_NAME_MAX], uid_t owner, const char *instance);
void name_lock(char out[WIRE_NAME_MAX], uid_t owner, const char *instance);
void name_bell(char out[WIRE_BELL_MAX], uid_t owner, const char *instance, int device);
/* The name is a one-way hash of the token: every user can list the name, but whoever knows the
 * token can ask in the queue owner's name. */
void name_reply(char out[WIRE_NAME_MAX], uid_t owner, const char *instance, uint64_t token);

#endif
