/* operator.h - what the server's owner sets: requests from gsctl. One subject with settings.h. */
#ifndef GS_SERVER_OPERATOR_H
#define GS_SERVER_OPERATOR_H

struct server;

/* Answers operators' requests that wait for the workers, where these have answered. */
void operator_settle(struct server *server);

#endif
