/* show.h - the commands that show the server's state, and functions for parts of their JSON
 * documents. */
#ifndef GS_GSCTL_SHOW_SHOW_H
#define GS_GSCTL_SHOW_SHOW_H

#include "gsctl/ask/rows.h"
#include "gsctl/base/options.h"

/* Each returns the exit status. */
int command_status(struct control *control, const struct command_options *options);
int command_servers(struct control *control, const struct command_options *options);
int command_ps(struct control *control, const struct command_options *options);
int command_info(struct control *control, const struct command_options *options);
int command_get(struct control *control, const struct command_options *options);
int command_explain(struct control *control, const struct command_options *options);
int command_dump(struct control *control, const struct command_options *options);
int command_log(struct control *control, const struct command_options *options);

/* Print the members of status's document, and of an object of its "devices". */
void status_members_json(const struct ctl_status_reply *reply, const struct control *control);
void devices_json(const struct ctl_status_reply *reply);

void tenant_members_json(const struct ctl_tenant *tenant); /* prints the members of an object of
                                                              ps's "tenants" */

/* Prints the members "provision" and "rows" of get's document. */
void rows_members_json(const struct rows *rows);
void row_members_json(const struct ctl_row *row); /* prints the members of an object of its
                                                     "rows" */

#endif
