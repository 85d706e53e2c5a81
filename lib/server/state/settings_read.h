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
 * A field set in a [group] applies to each of its members for whom neither a [user] nor an earlier
 * [group] sets it. The members of a group are looked up when the file is read, since the answer may
 * come from a network.
 *
 * Reading is strict: an unknown section, name or value, or one given twice, is an error that names
 * the line. Whether the devices can honour a value is not checked here.
 */
#ifndef GS_SERVER_SETTINGS_READ_H
#define GS_SERVER_SETTINGS_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "server/state/server_values.h"
#include "server/state/settings.h"
#include "server/state/user_list.h"

#define STATE_ERROR_MAX   160u
#define POLICY_GROUPS_MAX 32u

/* The values of the policy file's [server]; zero: not given. */
struct policy {
    struct user_list served, observers;
    uint32_t max_tenants;
    uint64_t mem_limit;
    char cache[CACHE_PATH_MAX]; /* "": not given */
    char metrics[METRICS_ADDRESS_MAX];
};

/* Fills *settings, which the caller has zeroed, from a text of `size` bytes. `policy` is zeroed
 * too, for a policy file; NULL for a state file. `said` receives each error up to the end of the
 * text; NULL: the first error ends the reading. Returns false if there was an error; `error` then
 * names the first wrong line. */
bool settings_read(struct settings *settings, struct policy *policy, const char *text, size_t size,
                   void (*said)(const char *error), char error[STATE_ERROR_MAX]);

#endif
