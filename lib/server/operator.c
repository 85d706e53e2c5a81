/* operator.c - see operator.h. */
#include "server/operator.h"

void operator_settle(struct server *server)
{
    (void)server;
}
