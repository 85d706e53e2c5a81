/* launch_range.c - see launch_range.h. */
#include "worker/submit/launch_range.h"

#include "common/fault_note.h"
#include "worker/sched/completed.h"

/* The stream of a range whose launches are in several streams or in graphs. */
#define SEVERAL UINT32_MAX

/* Notes that the stream's last launch is one of this kernel. */
static void kernel_noted(struct kernel *kernel, uint32_t index, const struct stream *stream)
{
    const bool clean = kernel->faults.last <= stream->faults.clean;

    if (kernel->faults.stream != index || clean)
        kernel->faults.first = stream->launches;
    kernel->faults.stream = index;
    kernel->faults.last = stream->launches;
    kernel->faults.streams |= UINT64_C(1) << index;
}

void launch_range_taken(struct session *session, uint32_t index, struct kernel *kernel)
{
    struct stream *stream = &session->submit.streams[index];

    session->submit.unclean |= UINT64_C(1) << index;
    if (kernel) {
        kernel_noted(kernel, index, stream);
    } else {
        stream->faults.graphs = true;
        stream->faults.graph = stream->head;
    }
}

void launch_ranges_read(struct session *session)
{
    for (uint64_t left = session->submit.unclean; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);
        struct stream *stream = &session->submit.streams[i];
        /* acquire: makes a kernel's note visible before its stream's word says that the kernel has
         * ended */
        const uint64_t finished = stream_completed_acquire(session, i);

        stream->faults.graphs_seen = stream->faults.graphs && finished < stream->faults.graph;
        stream->faults.seen = stream->faults.clean;
        if (finished >= stream->head) {
            stream->faults.seen = stream->launches;
        } else if (finished >= stream->faults.next_position) {
            if (stream->faults.seen < stream->faults.next_launches)
                stream->faults.seen = stream->faults.next_launches;
            stream->faults.next_position = stream->head;
            stream->faults.next_launches = stream->launches;
        }
    }
}

void launch_ranges_clean(struct session *session)
{
    for (uint64_t left = session->submit.unclean; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(left);
        struct stream *stream = &session->submit.streams[i];

        stream->faults.clean = stream->faults.seen;
        stream->faults.graphs = stream->faults.graphs_seen;
        if (stream->faults.graphs || stream->faults.clean < stream->launches)
            continue;
        session->submit.unclean &= ~(UINT64_C(1) << i);
    }
}

bool launch_ranges_look(struct session *session)
{
    const struct fault_notes *notes = session->module.faults;

    launch_ranges_read(session);
    if (fault_noted(&notes->end) || (fault_noted(&notes->stray) && !session->module.strayed))
        return false;
    launch_ranges_clean(session);
    return true;
}

/* Returns the range of a stream's launches that may have faulted: those of the kernel, or (NULL)
 * all. */
static struct launch_range range_in(const struct session *session, const struct kernel *kernel,
                                    uint32_t index)
{
    const struct stream *stream = &session->submit.streams[index];
    struct launch_range range = {index, stream->faults.clean + 1, stream->launches};

    if (kernel && kernel->faults.stream == index) {
        range.last = kernel->faults.last;
        range.first = kernel->faults.first > range.first ? kernel->faults.first : range.first;
    }
    return range.first <= range.last ? range : (struct launch_range){0};
}

void launch_range_add(const struct session *session, const struct kernel *kernel,
                      struct launch_range *range)
{
    uint64_t left = session->submit.unclean;

    for (uint64_t all = left; all; all &= all - 1) {
        if (session->submit.streams[__builtin_ctzll(all)].faults.graphs)
            range->stream = SEVERAL;
    }
    for (left &= kernel ? kernel->faults.streams : UINT64_MAX; left; left &= left - 1) {
        const struct launch_range more = range_in(session, kernel, (uint32_t)__builtin_ctzll(left));

        if (!more.last)
            continue;
        if (range->stream == SEVERAL || (range->last && range->stream != more.stream)) {
            *range = (struct launch_range){.stream = SEVERAL};
            continue;
        }
        range->stream = more.stream;
        range->first = range->last && range->first < more.first ? range->first : more.first;
        range->last = range->last > more.last ? range->last : more.last;
    }
    if (range->stream == SEVERAL)
        range->first = range->last = 0;
}
