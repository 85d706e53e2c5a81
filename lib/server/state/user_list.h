/* user_list.h - a list of users in the form of the policy file and the command line: "all", or
 * names and numbers with commas. */
#ifndef GS_SERVER_STATE_USER_LIST_H
#define GS_SERVER_STATE_USER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define USER_LIST_MAX  64
#define USER_LIST_TEXT (USER_LIST_MAX * 11 + 4)

struct user_list {
    bool given, all;
    unsigned count;
    uid_t user[USER_LIST_MAX];
};

/* Reads a list. Returns false if the text is wrong; `error` then has the reason, and the list is
 * undefined. */
bool user_list_parse(struct user_list *list, const char *text, char *error, size_t error_size);
bool user_list_has(const struct user_list *list, uid_t uid);
/* Writes "all", or numbers with commas. Returns text. */
const char *user_list_print(const struct user_list *list, char text[USER_LIST_TEXT]);

#endif
