/* options.h - parses gshared's command line, and the environment variables that stand in for its
 * options. Called before the server has another thread or process. */
#ifndef GS_SERVER_OPTIONS_H
#define GS_SERVER_OPTIONS_H

#include "server/state/server.h"

/* The settings that the supervisor passes to its workers through their environment. */
struct worker_settings {
    const char *log_level; /* NULL: the default */
    uint32_t lanes;        /* 0: the default */
    const char *cublas;    /* NULL: the default */
    const char *ptxas;     /* a path, "auto" or "none"; NULL: not given */
    const char *user;      /* NULL: the default */
};

/* Parses the command line. Ends the program if the line is wrong, or asks for help or for a check
 * of a policy file. Does not read the server's own policy file. */
void options_parse(int argc, char **argv, struct server_options *options,
                   struct worker_settings *workers);

#endif
