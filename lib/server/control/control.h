/*
 * control.h - requests as they come from the control queue, and the handlers of each.
 *
 * A handler checks the request, changes what is wanted, and has it planned where the asker waits
 * for a verdict. What follows from the change is reconciled at the end of the round.
 */
#ifndef GS_SERVER_CONTROL_H
#define GS_SERVER_CONTROL_H

#include "server/base/reply.h"
#include "server/state/server.h"
#include "server/state/session.h"

union control_request {
    struct ctl_header h;
    struct ctl_attach attach;
    struct ctl_set_qos set_qos;
    struct ctl_set set;
    struct ctl_reserve reserve;
    struct ctl_provision provision;
    struct ctl_drain drain;
    struct ctl_kill kill;
    struct ctl_restart restart;
    struct ctl_trace trace;
    struct ctl_admin admin;
    unsigned char bytes[CTL_MESSAGE_MAX];
};

enum control_verdict {
    CONTROL_GOOD = 0,
    CONTROL_JUNK = 1,    /* not a request: nobody to tell */
    CONTROL_VERSION = 2, /* a request of another version */
    CONTROL_OP = 3,      /* an operation that this version does not have */
    CONTROL_SIZE = 4     /* not the size that the operation has */
};

#define CONTROL_OPS (CTL_DRAIN + 1u) /* all operations are below */
/* The bytes of a request for that operation; 0: no operation of that number is asked for. Pure. */
uint32_t control_size(uint16_t op);
/* Checks the header of a message of `size` bytes. Pure. */
enum control_verdict control_check(const union control_request *request, size_t size);
/* The callback of the control queue's watch. */
void control_ready(struct watch *watch, uint32_t events);
/* Deals with the request over which a former supervisor was killed, if there is one. reply: where
 * it is answered, if that was open already; closed afterwards. */
void control_again(struct server *server, struct reply *reply);

/* attach.c */
/* Whether the server serves this user. Nobody else is answered but by a refusal. */
bool user_admitted(const struct server_options *options, uid_t uid);
/* Takes the reply over. */
void attach_handle(struct server *server, const struct ctl_attach *request, struct reply *reply);

struct admission {
    struct device *device;
    uint32_t space; /* 0, or 1 + the index of the reservation */
    char name[32];  /* printable ASCII */
};
/* GS_OK where the policy admits this request, and to what; else a status and why not. Pure. */
gs_status attach_admit(struct server *server, uid_t uid, const struct ctl_attach *request,
                       struct admission *admission, char text[REFUSAL_TEXT_MAX]);

/* qos_request.c */
/* CTL_SET_QOS. Takes the reply over, unless it has answered. */
void qos_request_handle(struct server *server, const struct ctl_set_qos *request,
                        struct reply *reply);

/* trace.c */
void trace_handle(struct server *server, const struct ctl_trace *request,
                  const struct reply *reply);

/* admin.c */
/* The state that operators see. */
enum ctl_tenant_state session_tenant_state(const struct session *session);
void admin_status(struct server *server, const struct ctl_admin *request,
                  const struct reply *reply);
void admin_ps(struct server *server, const struct ctl_admin *request, const struct reply *reply);
void admin_quit(struct server *server, const struct ctl_admin *request, const struct reply *reply);

#endif
