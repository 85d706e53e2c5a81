/* options.h - gshared's command line, and the environment variables that stand in for its options.
 * Before the server has any other thread or process. */
#ifndef GS_SERVER_OPTIONS_H
#define GS_SERVER_OPTIONS_H

#include "server/state/server.h"

/* What the supervisor tells its workers by their environment. */
struct worker_settings {
    const char *log_level; /* NULL: the default */
    uint32_t lanes;        /* 0: the default */
    const char *cublas;    /* NULL: the default */
    const char *ptxas;     /* a path, "auto" or "none"; NULL: not given */
    const char *user;      /* NULL: the default */
};

/* Ends the program where the line is wrong, or asks for help or for a check. The policy file is not
 * read yet. */
void options_parse(int argc, char **argv, struct server_options *options,
                   struct worker_settings *workers);

#endif
