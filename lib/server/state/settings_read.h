/*
 * settings_read.h - reads what limits sessions from text: the state file that the server writes
 * (state_file.h shows it), and the policy file that an operator writes, which also says who is
 * served:
 *
 *     [server]
 *     allow-users = alice, bob
 *     [others]
 *     user-mem = 16G
 *     [group research]
 *     user-mem = 32G
 *     [user alice]
 *     class = latency
 *
 * What a [group] sets goes to each of its members for whom it is not set in [user], nor in a
 * [group] before. Who is in a group is asked when the file is read, since the answer may come from
 * a network.
 *
 * Strict: an unknown section, name or value, or one given twice, is an error with its line. What
 * the devices cannot honour is not known here.
 */
#ifndef GS_SERVER_SETTINGS_READ_H
#define GS_SERVER_SETTINGS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "server/state/server_values.h"
#include "server/state/settings.h"

#define STATE_ERROR_MAX   160u
#define POLICY_USERS_MAX  64
#define POLICY_GROUPS_MAX 32u

/* What the policy file's [server] says; zero: nothing. */
struct policy {
    bool users_given, all_users;
    unsigned user_count;
    uid_t user[POLICY_USERS_MAX];
    uint32_t max_tenants;
    uint64_t mem_limit;
    char cache[CACHE_PATH_MAX]; /* "": not said */
    char metrics[METRICS_ADDRESS_MAX];
};

/* Fills *settings, which must be zeroed, from a text of `size` bytes. policy: zeroed, for a policy
 * file; NULL for a state file. said: gets each error, to the end of the text; NULL: the first error
 * ends the reading. false: error says which line is the first that is wrong, and settings hold
 * nothing that needs to be freed. */
bool settings_read(struct settings *settings, struct policy *policy, const char *text, size_t size,
                   void (*said)(const char *error), char error[STATE_ERROR_MAX]);

#endif
