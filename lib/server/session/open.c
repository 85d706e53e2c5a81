/* open.c - see open.h. */
#include "server/session/open.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/status.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/liveness.h"
#include "server/session/peer_memory.h"
#include "server/session/segment.h"
#include "server/state/server.h"

static bool answer_send(struct session *session)
{
    struct ctl_attach_reply answer = {.status = GS_OK,
                                      .segment_id = session->segment_id,
                                      .status_page_id = session->server->status.id,
                                      .session_id = session->id,
                                      .cookie = session->cookie,
                                      .segment_size = SEG_SIZE};
    /* The queue is full if a supervisor was killed just after it had answered. */
    bool sent = reply_send(&session->reply, &answer.h, sizeof(answer)) || errno == EAGAIN;

    reply_close(&session->reply);
    return sent;
}

static void opened_refused(struct session *session, int32_t status, const char *text)
{
    session->segment_kept = session->resuming ? SEGMENT_NOT_KEPT : SEGMENT_IN_DOUBT;
    /* The client of a resumed session may live long, and the worker should not hold the segment
     * meanwhile. */
    if (session->resuming)
        session_segment_drop(session->device, session->segment_id);
    server_session_refuse(session, status_is_error(status) ? (gs_status)status : GS_ERR_PROTOCOL,
                          text);
}

void server_session_taken_up(struct session *session)
{
    session->attempts = 0;
    session->device->failures = 0;
}

/* Handles LINK_OPENED of a session that is taken up, whose client has its segment already and waits
 * for no answer. */
static void opened_resumed(struct session *session, bool late)
{
    log_debug("session %llu of uid %u (%s) goes on with worker %d", (unsigned long long)session->id,
              (unsigned)session->uid, session->name, (int)session->device->worker.child.pid);
    server_session_resume_over(session);
    if (!late)
        server_session_taken_up(session);
    peer_imports_tell(session);
    session->missing_ns = 0;
    session->segment_kept = SEGMENT_KEPT;
}

bool server_session_opened(struct session *session, const struct link_opened *opened,
                           const char *text)
{
    if (session->state != SESSION_OPENING)
        return false;
    timer_cancel(&session->server->loop, &session->answer_by);
    if (opened->status != GS_OK) {
        opened_refused(session, opened->status, text);
        return true;
    }
    session->state = SESSION_OPEN;
    session->mem_limit = opened->mem_limit;
    session->window_base = opened->window_base;
    session->window_size = opened->window_size;
    grants_opened(session);
    if (session->close_wanted) { /* the client has been answered, or does not wait any more */
        server_session_resume_over(session);
        server_session_close(session);
        return true;
    }
    session->attached_base = 2; /* the worker's and the supervisor's */
    if (session->resuming) {
        opened_resumed(session, opened->late);
        return true;
    }
    session->attempts = 0;
    session_segment_fill(session);
    if (!answer_send(session)) {
        server_session_close(session);
        return true;
    }
    liveness_expect(session);
    session_attached_log(session);
    return true;
}
