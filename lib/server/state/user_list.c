/* user_list.c - see user_list.h. */
#include "server/state/user_list.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/util.h"
#include "server/state/server_values.h"

bool user_list_parse(struct user_list *list, const char *text, char *error, size_t error_size)
{
    CLEANUP_FREE char *copy = strdup(text);
    char *rest = NULL;

    *list = (struct user_list){.given = true, .all = !strcmp(text, "all")};
    if (list->all)
        return true;
    if (!copy) {
        snprintf(error, error_size, "no memory");
        return false;
    }
    for (char *user = strtok_r(copy, ",", &rest); user; user = strtok_r(NULL, ",", &rest)) {
        user = value_trim(user);
        if (list->count == USER_LIST_MAX) {
            snprintf(error, error_size, "...: more than %d users", USER_LIST_MAX);
            return false;
        }
        if (!user_parse(user, &list->user[list->count++])) {
            snprintf(error, error_size, "%s%.40s: there is no such user",
                     list->count > 1 || *rest ? "..." : "", user);
            return false;
        }
    }
    return true;
}

bool user_list_has(const struct user_list *list, uid_t uid)
{
    bool has = list->all;

    for (unsigned i = 0; i < list->count && !has; i++)
        has = list->user[i] == uid;
    return has;
}

const char *user_list_print(const struct user_list *list, char text[USER_LIST_TEXT])
{
    size_t n = 0;

    snprintf(text, USER_LIST_TEXT, "%s", list->all ? "all" : "");
    for (unsigned i = 0; i < list->count; i++)
        n += (size_t)snprintf(text + n, USER_LIST_TEXT - n, "%s%u", i ? "," : "",
                              (unsigned)list->user[i]);
    return text;
}
