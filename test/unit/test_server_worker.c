// What comes from a worker: a message that makes no sense ends that worker and its sessions, never
// the supervisor; good messages move a session on.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/preload.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/session/liveness.h"
#include "server/state/server.h"
#include "server/workers/ending.h"
#include "server/workers/heartbeat.h"
#include "server/workers/messages.h"
#include "server/workers/process.h"
#include "server/workers/restart.h"
#include "server/workers/suspects.h"

#define SLOTS 4u

static struct server server;
static struct device *const device = &server.device[0];
static int worker_end; // of the socketpair
static _Alignas(4096) unsigned char segment[SLOTS][SEG_SIZE];

// A server with one ready device, whose worker is this test; its process is a child that sleeps,
// for there must be something to kill.
static int link_setup(void **state)
{
    static struct status_page page;
    int pair[2];

    (void)state;
    log_init("test", "error");
    memset(&server, 0, sizeof(server));
    server.options.instance = "unit";
    server.status.page = &page;
    server.phase = PHASE_SERVING;
    server.device_count = 1;
    server.descriptors_max = 1024;
    device_init(device, &server, 0);
    if (loop_init(&server.loop) < 0 || !registry_init(&server.registry, SLOTS, NULL) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0 ||
        watch_add(&server.loop, &device->worker.child.link, pair[0], EPOLLIN, worker_link_ready) <
            0)
        return -1;
    worker_end = pair[1];
    device->worker.state = WORKER_READY;
    device->worker.child.pid = fork();
    if (device->worker.child.pid == 0) {
        close(pair[1]);
        for (;;)
            pause();
    }
    device->worker.child.process.fd = (int)syscall(SYS_pidfd_open, device->worker.child.pid, 0);
    return device->worker.child.pid > 0 ? 0 : -1;
}

static int link_teardown(void **state)
{
    (void)state;
    for (struct session *t = NULL; (t = registry_next(&server.registry, t));)
        server_session_end(t);
    worker_kill(device);
    device_deinit(device);
    close(worker_end);
    registry_deinit(&server.registry);
    loop_deinit(&server.loop);
    return 0;
}

static struct session *session_in(enum session_state state)
{
    struct session *session = registry_take(&server.registry);

    assert_non_null(session);
    session->server = &server;
    session->device = device;
    device->sessions++;
    session->id = ++server.sessions_total;
    session->state = state;
    session->segment = segment[session->slot]; // not System V's, so that ending it leaves it mapped
    memset(session->segment, 0, SEG_SIZE);
    struct seg_server *shared = (void *)(session->segment + SEG_OFF_SERVER);
    atomic_store(&shared->state, SEG_OPEN);
    return session;
}

static void worker_says(const void *bytes, size_t size, int descriptor)
{
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (descriptor >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
    }
    assert_int_equal(sendmsg(worker_end, &header, 0), size);
    worker_receive(device);
}

static void worker_says_message(uint32_t op, uint32_t slot)
{
    struct link_message message = {.op = op, .slot = slot};

    worker_says(&message, sizeof(message), -1);
}

static uint32_t worker_hears(void)
{
    struct link_message message;

    return recv(worker_end, &message, sizeof(message), 0) == sizeof(message) ? message.op : 0;
}

static void an_opened_session_closes_when_its_client_goes(void **state)
{
    struct session *session = session_in(SESSION_OPEN);
    struct seg_server *shared = (void *)(session->segment + SEG_OFF_SERVER);

    (void)state;
    server_session_close(session);
    assert_int_equal(session->state, SESSION_CLOSING);
    assert_int_equal(worker_hears(), LINK_CLOSE);
    assert_int_equal(atomic_load(&shared->state), SEG_OPEN);
    worker_says_message(LINK_CLOSED, session->slot);
    assert_int_equal(session->state, SESSION_FREE);
    assert_int_equal(atomic_load(&shared->state), SEG_CLOSED);
    assert_int_equal(server.registry.count, 0);
    assert_int_equal(device->worker.state, WORKER_READY);
}

static void the_vault_takes_descriptors_for_sessions_that_have_memory(void **state)
{
    struct session *session = session_in(SESSION_OPEN);
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = session->slot};
    int fd = memfd_create("memory", MFD_CLOEXEC);

    (void)state;
    message.u.vault = (struct link_vault){0x10000, 0x1000, 0};
    worker_says(&message, sizeof(message), fd);
    assert_int_equal(session->vault.count, 1);
    assert_int_equal(session->vault.entry[0]->address, 0x10000);
    message.op = LINK_VAULT_DROP;
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(session->vault.count, 0);
    assert_int_equal(device->worker.state, WORKER_READY);
    close(fd);
}

// Whichever of the two ends first, the other has its memory.
static void memory_that_two_sessions_share_has_a_descriptor_for_each(void **state)
{
    struct session *owner = session_in(SESSION_OPEN), *importer = session_in(SESSION_OPEN);
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = owner->slot};
    int fd = memfd_create("memory", MFD_CLOEXEC);
    struct stat first, second;

    (void)state;
    message.u.vault = (struct link_vault){0x10000, 0x1000, 0};
    worker_says(&message, sizeof(message), fd);
    message = (struct link_message){.op = LINK_VAULT_SHARE, .slot = importer->slot};
    message.u.share = (struct link_vault_share){{0x90000, 0x1000, 0}, 0x10000, owner->slot};
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(importer->vault.count, 1);
    assert_int_equal(importer->vault.entry[0]->address, 0x90000);
    assert_true(importer->vault.entry[0]->fd != owner->vault.entry[0]->fd);
    assert_int_equal(fstat(owner->vault.entry[0]->fd, &first), 0);
    assert_int_equal(fstat(importer->vault.entry[0]->fd, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    message = (struct link_message){.op = LINK_VAULT_DROP, .slot = owner->slot};
    message.u.vault = (struct link_vault){0x10000, 0x1000, 0};
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(owner->vault.count, 0);
    assert_int_equal(fstat(importer->vault.entry[0]->fd, &second), 0);
    assert_false(importer->vault_short);
    assert_int_equal(device->worker.state, WORKER_READY);
    close(fd);
}

// The other has it not, or is nobody: the importer's memory would not outlive the worker, no more.
static void what_another_session_lacks_in_the_vault_is_not_shared(void **state)
{
    struct session *owner = session_in(SESSION_OPEN), *importer = session_in(SESSION_OPEN);
    const struct link_vault_share cases[] = {{{0x90000, 0x1000, 0}, 0x20000, owner->slot},
                                             {{0x90000, 0x2000, 0}, 0x10000, owner->slot},
                                             {{0x90000, 0x1000, 0}, 0x10000, importer->slot},
                                             {{0x90000, 0x1000, 0}, 0x10000, SLOTS - 1},
                                             {{0x90000, 0x1000, 0}, 0x10000, UINT32_MAX}};
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = owner->slot};
    int fd = memfd_create("memory", MFD_CLOEXEC);

    (void)state;
    message.u.vault = (struct link_vault){0x10000, 0x1000, 0};
    worker_says(&message, sizeof(message), fd);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        message = (struct link_message){.op = LINK_VAULT_SHARE, .slot = importer->slot};
        message.u.share = cases[i];
        importer->vault_short = false;
        worker_says(&message, sizeof(message), -1);
        assert_true(importer->vault_short);
        assert_int_equal(importer->vault.count, 0);
        assert_int_equal(device->worker.state, WORKER_READY);
    }
    close(fd);
}

// No other device has the export that the handle names.
static void an_import_from_no_other_device_is_refused(void **state)
{
    struct session *importer = session_in(SESSION_OPEN);
    struct link_message message = {.op = LINK_PEER_IMPORT, .slot = importer->slot};

    (void)state;
    for (uint32_t number = 0; number < 3; number++) {
        message.u.peer_ask = (struct link_peer_ask){.ask = 5};
        link_handle_set_device(message.u.peer_ask.handle, number);
        worker_says(&message, sizeof(message), -1);
        assert_int_equal(worker_hears(), LINK_PEER_IMPORTED);
        assert_int_equal(importer->peer.ask.ask, 0);
    }
    assert_int_equal(device->worker.state, WORKER_READY);
}

static void a_worker_that_is_being_ended_still_gives_memory_to_the_vault(void **state)
{
    struct session *waits = session_in(SESSION_OPEN), *lost = session_in(SESSION_OPEN);
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = waits->slot};
    int fd = memfd_create("memory", MFD_CLOEXEC);

    (void)state;
    waits->journal = memfd_create("journal", MFD_CLOEXEC);
    worker_fail(device, NULL, LINK_SLOT_NONE, "it is silent");
    assert_int_equal(waits->state, SESSION_WAITING);
    assert_int_equal(lost->state, SESSION_LOST); // it has no journal
    message.u.vault = (struct link_vault){0x10000, 0x1000, 0};
    worker_says(&message, sizeof(message), fd);
    message.u.vault.address = 0x20000;
    worker_says(&message, sizeof(message), fd);
    message.op = LINK_VAULT_DROP;
    message.u.vault.address = 0x10000;
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(waits->vault.count, 1);
    assert_int_equal(waits->vault.entry[0]->address, 0x20000);
    message.op = LINK_VAULT_PUT;
    message.slot = lost->slot;
    worker_says(&message, sizeof(message), fd);
    assert_int_equal(lost->vault.count, 0);
    close(fd);
}

// As a supervisor finds what its predecessor, which was killed, has left.
static void restore(void)
{
    const int link = device->worker.child.link.fd, process = device->worker.child.process.fd;

    watch_remove(&server.loop, &device->worker.child.link);
    watch_remove(&server.loop, &device->worker.child.process);
    device->worker.child.link.fd = link;
    device->worker.child.process.fd = process;
    worker_restore(device);
}

// Before LINK_BEGIN was sent, or after it and before it was noted.
static void a_next_supervisor_begins_with_a_worker_that_has_said_that_it_is_ready(void **state)
{
    struct worker_process *worker = &device->worker;

    (void)state;
    worker->state = WORKER_STARTING;
    worker->child.said = (struct link_device){.sm_count = 16, .sm_groups = 0};
    worker->child.said_ready = true;
    restore();
    assert_int_equal(worker->state, WORKER_READY);
    assert_int_equal(worker_hears(), LINK_BEGIN);
    assert_int_equal(worker_hears(), 0);
    assert_int_equal(device->info.sm_count, 16);
    worker->begun = false;
    restore();
    assert_int_equal(worker->state, WORKER_READY);
    assert_int_equal(worker_hears(), LINK_BEGIN);
    assert_int_equal(worker_hears(), 0);
    assert_true(worker->begun);
}

// It was killed over the message itself.
static void a_next_supervisor_takes_a_ready_message_that_was_not_dealt_with(void **state)
{
    struct worker_process *worker = &device->worker;

    (void)state;
    worker->state = WORKER_STARTING;
    worker->inbox = (struct link_message){.op = LINK_READY, .slot = LINK_SLOT_NONE};
    worker->inbox.u.device = (struct link_device){.sm_count = 16};
    restore();
    assert_int_equal(worker->state, WORKER_READY);
    assert_int_equal(worker_hears(), LINK_BEGIN);
    assert_int_equal(device->info.sm_count, 16);
}

// The former supervisor had dealt with none, or all, of it.
static void a_next_supervisor_takes_a_word_about_a_session_that_was_not_dealt_with(void **state)
{
    static const uint32_t ops[] = {LINK_SUSPECT, LINK_SUSPECT, LINK_TRIED, LINK_TAKEN_UP};
    struct session *session = session_in(SESSION_OPEN);
    struct account *account = account_get(&server.accounts, session->uid);

    (void)state;
    session->losses = session->attempts = 2;
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
        device->worker.inbox = (struct link_message){.op = ops[i], .slot = session->slot};
        worker_receive_again(device);
    }
    assert_true(account->suspect_ns > clock_ns());
    assert_int_equal(account->suspicions, 1);
    assert_int_equal(device->suspects.count, 1);
    assert_int_equal(device->suspects.session_id[0], session->id);
    assert_int_equal(session->losses, 0);
    assert_int_equal(session->attempts, 0);
}

static void nonsense_ends_the_worker(void **state)
{
    static const struct {
        uint32_t op;
        enum session_state state;
        bool other_slot;
    } cases[] = {
        {0, SESSION_OPEN, false},
        {LINK_READY, SESSION_OPEN, false},  // a second time
        {LINK_OPEN, SESSION_OPEN, false},   // ours to say
        {LINK_OPENED, SESSION_OPEN, false}, // a second time
        {LINK_OPENED, SESSION_WAITING, false},
        {LINK_CLOSED, SESSION_OPEN, false}, // not asked for
        {LINK_CLOSED, SESSION_OPENING, false},
        {LINK_CLOSED, SESSION_OPEN, true},
        {LINK_OPENED, SESSION_OPEN, true},
        {LINK_GRANTED, SESSION_OPEN, false}, // no grant is awaited
        {LINK_GRANTED, SESSION_OPENING, false},
        {LINK_GRANTED, SESSION_OPEN, true},
        {LINK_GRANT, SESSION_OPEN, false}, // ours to say
        {LINK_POLICY, SESSION_OPEN, false},
        {LINK_VAULT_PUT, SESSION_OPEN, true},
        {LINK_VAULT_DROP, SESSION_LOST, false},
        {LINK_VAULT_SHARE, SESSION_OPEN, true},
        {LINK_VAULT_SHARE, SESSION_LOST, false},
        {LINK_VAULT_PEER, SESSION_OPEN, true},
        {LINK_VAULT_PEER, SESSION_LOST, false},
        {LINK_REVOKE, SESSION_OPEN, true},
        {LINK_PEER_IMPORT, SESSION_OPEN, false},   // without a number
        {LINK_PEER_EXPORT, SESSION_OPEN, false},   // ours to say
        {LINK_PEER_IMPORTED, SESSION_OPEN, false}, // ours to say
        {LINK_QUIT, SESSION_OPEN, false},
        {LINK_SEGMENT_DROP, SESSION_OPEN, false}, // ours to say
        {LINK_PING, SESSION_OPEN, false},
        {LINK_PONG, SESSION_OPEN, false},    // nobody asked
        {LINK_RETIRED, SESSION_OPEN, false}, // nobody asked
        {LINK_TRIED, SESSION_LOST, false},
        {LINK_SUSPECT, SESSION_LOST, false},
        {UINT32_MAX, SESSION_OPEN, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct session *session = session_in(cases[i].state);
        struct seg_server *shared = (void *)(session->segment + SEG_OFF_SERVER);
        static const uint32_t no_slots[] = {SLOTS - 1, SLOTS, LINK_SLOTS_MAX, UINT32_MAX};

        worker_says_message(cases[i].op, cases[i].other_slot ? no_slots[i % 4] : session->slot);
        if (device->worker.state != WORKER_ENDING)
            fail_msg("case %zu: the worker goes on", i);
        if (cases[i].state == SESSION_OPEN) {
            assert_int_equal(session->state, SESSION_LOST);
            assert_int_equal(atomic_load(&shared->state), SEG_LOST);
            assert_int_equal(shared->fault.status, GS_ERR_INTERRUPTED);
        }
        assert_int_equal(link_teardown(state), 0);
        assert_int_equal(link_setup(state), 0);
    }
}

// What the supervisor would compute from a description must make sense.
static void a_device_that_cannot_be_ends_the_worker(void **state)
{
    static const struct {
        struct link_device device;
        bool good;
    } cases[] = {
        {{.sm_count = 4, .priority_highest = -5}, true},
        {{.sm_count = 0, .priority_highest = -5}, false},
        {{.sm_count = 4, .sm_groups = 5}, false},
        {{.sm_count = 4, .priority_lowest = INT32_MAX, .priority_highest = INT32_MIN}, false},
        {{.sm_count = 4, .priority_lowest = -5}, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct link_message message = {.op = LINK_READY, .u.device = cases[i].device};

        device->worker.state = WORKER_STARTING;
        worker_says(&message, sizeof(message), -1);
        assert_int_equal(device->worker.state, cases[i].good ? WORKER_READY : WORKER_ENDING);
        assert_int_equal(link_teardown(state), 0);
        assert_int_equal(link_setup(state), 0);
    }
}

static void messages_of_a_wrong_size_end_the_worker(void **state)
{
    static const size_t sizes[] = {1, sizeof(struct link_message) - 1,
                                   sizeof(struct link_message) + 1, 4096};
    char bytes[4096] = {0};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        worker_says(bytes, sizes[i], -1);
        assert_int_equal(device->worker.state, WORKER_ENDING);
        assert_int_equal(link_teardown(state), 0);
        assert_int_equal(link_setup(state), 0);
    }
}

static void only_the_culprit_of_a_fatal_fault_is_blamed(void **state)
{
    struct session *culprit = session_in(SESSION_OPEN), *other = session_in(SESSION_OPEN);
    struct session *closing = session_in(SESSION_CLOSING), *waiting = session_in(SESSION_WAITING);
    struct seg_server *blamed = (void *)(culprit->segment + SEG_OFF_SERVER);
    struct seg_server *spared = (void *)(other->segment + SEG_OFF_SERVER);
    struct link_message message = {.op = LINK_FATAL, .slot = culprit->slot};

    (void)state;
    message.u.fatal = (struct link_fatal){
        .status = GS_ERR_FAULT, .kind = GS_FAULT_KERNEL, .stream = 3, .position = 640, .launch = 9};
    *(struct rec_copy *)(void *)(other->segment + SEG_OFF_RINGS) =
        (struct rec_copy){.h = {.op = REC_COPY, .size = 64}, .bytes = 1000};
    atomic_store(&((struct seg_client *)(void *)(other->segment + SEG_OFF_CLIENT))->tail[0], 64);
    memset(message.u.fatal.kernel, 'k', sizeof(message.u.fatal.kernel)); // not terminated
    strcpy(message.text, "an illegal address");
    worker_says(&message, sizeof(message), -1);

    assert_int_equal(atomic_load(&blamed->state), SEG_FAULTED);
    assert_int_equal(blamed->fault.status, GS_ERR_FAULT);
    assert_int_equal(blamed->fault.kind, GS_FAULT_KERNEL);
    assert_int_equal(blamed->fault.stream, 3);
    assert_int_equal(blamed->fault.position, 640);
    assert_int_equal(blamed->fault.launch, 9);
    assert_int_equal(blamed->fault.lost_copies, 0);
    assert_int_equal(strlen(blamed->fault.kernel), sizeof(blamed->fault.kernel) - 1);
    assert_non_null(strstr(blamed->fault.message, "kernel kkkk"));
    assert_non_null(strstr(blamed->fault.message, ": an illegal address"));
    assert_int_equal(atomic_load(&spared->state), SEG_LOST);
    assert_int_equal(spared->fault.status, GS_ERR_INTERRUPTED);
    assert_non_null(strstr(spared->fault.message, "an illegal address"));
    assert_null(strstr(spared->fault.message, "kkkk")); // nobody else's business
    assert_int_equal(spared->fault.launch, 0);
    assert_int_equal(spared->fault.lost_copies, 1);
    assert_int_equal(spared->fault.lost_bytes, 1000);
    assert_int_equal(closing->state, SESSION_FREE);
    assert_int_equal(waiting->state, SESSION_WAITING); // for the next worker
    assert_int_equal(device->faults, 1);

    // A lost session is freed when its client goes, with no word to a worker.
    server_session_close(culprit);
    assert_int_equal(culprit->state, SESSION_FREE);
    assert_int_equal(worker_hears(), 0);
}

static struct session *compiling_in(enum session_state state)
{
    struct session *session = session_in(state);

    atomic_store(&device->stats[session->slot].compiling, 1);
    return session;
}

// A session that is being taken up has what the worker before has left there.
static void who_compiles_when_a_worker_crashes_is_blamed(void **state)
{
    struct session *culprit, *other = session_in(SESSION_OPEN), *resuming;
    const struct seg_server *blamed, *spared = (void *)(other->segment + SEG_OFF_SERVER);

    (void)state;
    device->stats = calloc(LINK_SLOTS_MAX, sizeof(*device->stats));
    culprit = compiling_in(SESSION_OPEN);
    resuming = compiling_in(SESSION_OPENING);
    resuming->resuming = true;
    device->resuming = 1;
    blamed = (void *)(culprit->segment + SEG_OFF_SERVER);
    worker_crashed(device, "the worker was killed");
    assert_int_equal(atomic_load(&blamed->state), SEG_FAULTED);
    assert_int_equal(blamed->fault.status, GS_ERR_FAULT);
    assert_int_equal(blamed->fault.kind, GS_FAULT_DEVICE);
    assert_string_equal(blamed->fault.message, "the worker was killed while it compiled a module");
    assert_int_equal(atomic_load(&spared->state), SEG_LOST);
    assert_int_equal(resuming->state, SESSION_WAITING);
    assert_int_equal(device->culprit.session_id, culprit->id);
    free(device->stats);
}

static void of_several_who_compile_when_a_worker_crashes_each_is_a_suspect(void **state)
{
    static const uid_t users[] = {0, 4711, 4712};
    const struct account *account[3];

    (void)state;
    device->stats = calloc(LINK_SLOTS_MAX, sizeof(*device->stats));
    for (uint32_t i = 0; i < 3; i++) {
        account[i] = account_get(&server.accounts, users[i]);
        (i < 2 ? compiling_in(SESSION_OPEN) : session_in(SESSION_OPEN))->uid = users[i];
    }
    worker_crashed(device, "the worker was killed");
    assert_int_equal(device->culprit.session_id, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(account[i]->suspect_ns > clock_ns(), i < 2);
    free(device->stats);
}

// What the kernel kills is what has most memory, whoever took it last.
static void who_compiles_when_a_worker_starves_is_blamed_the_second_time(void **state)
{
    struct session *culprit, *other = session_in(SESSION_OPEN);

    (void)state;
    device->stats = calloc(LINK_SLOTS_MAX, sizeof(*device->stats));
    culprit = compiling_in(SESSION_OPEN);
    account_get(&server.accounts, culprit->uid = 4711);
    account_get(&server.accounts, other->uid = 4712);
    worker_starved(device, "the worker was killed");
    assert_int_equal(device->culprit.session_id, 0);
    assert_string_equal(device->failure, "the worker was killed for want of memory");
    assert_true(account_find(&server.accounts, 4711)->suspect_ns > clock_ns());
    assert_int_equal(account_find(&server.accounts, 4712)->suspect_ns, 0);
    device->worker.state = WORKER_READY;
    culprit->state = SESSION_OPEN;
    worker_starved(device, "the worker was killed");
    assert_int_equal(device->culprit.session_id, culprit->id);
    free(device->stats);
}

// Nobody else's does.
static void sessions_that_are_not_open_end_too_where_their_user_is_kept_out(void **state)
{
    struct session *culprit = session_in(SESSION_OPEN), *waiting = session_in(SESSION_WAITING);
    struct session *opening = session_in(SESSION_OPENING), *other = session_in(SESSION_WAITING);
    struct link_message message = {.op = LINK_FATAL, .slot = culprit->slot};

    (void)state;
    other->uid = 4711;
    account_get(&server.accounts, 0)->kept_out_ns = clock_ns() + 1000000000000u;
    message.u.fatal = (struct link_fatal){.status = GS_ERR_FAULT, .kind = GS_FAULT_KERNEL};
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(waiting->state, SESSION_FREE);
    assert_int_equal(opening->state, SESSION_FREE);
    assert_int_equal(other->state, SESSION_WAITING);
    assert_int_equal(server.refusals[GS_ERR_REFUSED], 2);
}

// One that the next worker was to take up is told so in its segment.
static void a_session_that_waits_to_be_taken_up_is_lost_where_its_user_is_kept_out(void **state)
{
    struct session *culprit = session_in(SESSION_OPEN), *waiting = session_in(SESSION_OPENING);
    struct seg_server *told = (void *)(waiting->segment + SEG_OFF_SERVER);
    struct link_message message = {.op = LINK_FATAL, .slot = culprit->slot};

    (void)state;
    waiting->resuming = true;
    device->resuming = 1;
    account_get(&server.accounts, 0)->kept_out_ns = clock_ns() + 1000000000000u;
    message.u.fatal = (struct link_fatal){.status = GS_ERR_FAULT, .kind = GS_FAULT_KERNEL};
    worker_says(&message, sizeof(message), -1);
    assert_int_equal(waiting->state, SESSION_LOST);
    assert_int_equal(atomic_load(&told->state), SEG_LOST);
    assert_non_null(strstr(told->fault.message, "lost the device while its user was kept out: "));
}

// Random messages, many nearly right: the supervisor lives, and its counts stay true.
static void last_words_are_heard_though_the_worker_left_messages_unread(void **state)
{
    struct link_message fatal = {.op = LINK_FATAL, .slot = LINK_SLOT_NONE};
    struct link_message unread = {.op = LINK_SEGMENT_DROP, .slot = LINK_SLOT_NONE};
    struct session *session = session_in(SESSION_OPEN);

    (void)state;
    fatal.slot = session->slot;
    worker_send(device, &unread);
    assert_int_equal(send(worker_end, &fatal, sizeof(fatal), 0), sizeof(fatal));
    close(worker_end);
    worker_end = -1;
    worker_receive(device);
    assert_int_equal(device->worker.state, WORKER_ENDING);
    assert_int_equal(device->culprit.session_id, session->id);
}

static void random_messages_never_harm_the_supervisor(void **state)
{
    srand(11);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 3; i++)
            session_in((enum session_state)(1 + rand() % 4));
        for (int i = 0; i < 50 && device->worker.state == WORKER_READY; i++) {
            struct link_message message;
            unsigned char *bytes = (unsigned char *)&message;

            for (size_t b = 0; b < sizeof(message); b++)
                bytes[b] = (unsigned char)rand();
            message.op = (uint32_t)rand() % (LINK_PEER_REVOKE + 2);
            message.slot = (uint32_t)rand() % (SLOTS + 1);
            if (rand() % 2)
                message.u.opened.status = rand() % 30;
            worker_says(&message,
                        rand() % 50 ? sizeof(message) : (size_t)rand() % sizeof(message) + 1,
                        rand() % 4 ? -1 : STDERR_FILENO);
        }
        uint32_t alive = 0;
        for (struct session *t = NULL; (t = registry_next(&server.registry, t));)
            alive++;
        assert_int_equal(alive, server.registry.count);
        assert_int_equal(alive, device->sessions);
        for (struct session *t = NULL; (t = registry_next(&server.registry, t));)
            server_session_end(t);
        assert_int_equal(device->sessions, 0);
        assert_int_equal(link_teardown(state), 0);
        assert_int_equal(link_setup(state), 0);
    }
}

// A session with a segment that the supervisor, the worker and the client have attached: all of
// them this test. The client is one whose process cannot be seen.
struct attached {
    struct session *session;
    void *supervisors, *workers, *clients;
};

static struct attached attached_make(void)
{
    struct attached a = {.session = session_in(SESSION_OPEN)};
    int id = shmget(IPC_PRIVATE, SEG_SIZE, IPC_CREAT | 0600);

    assert_true(id >= 0);
    a.supervisors = shmat(id, NULL, 0);
    a.workers = shmat(id, NULL, 0);
    a.session->segment_id = id;
    a.session->attached_base = 2;
    a.clients = shmat(id, NULL, 0);
    assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
    liveness_confirm(a.session);
    assert_int_equal(a.session->client, CLIENT_POLLED);
    return a;
}

static void sweep(void)
{
    server.sweep.fire(&server.sweep);
}

// Answers a ping, if there is one: the main lane has been in one round for so long.
static void worker_pongs_stuck(uint64_t stuck_ns)
{
    struct link_message message;

    if (recv(worker_end, &message, sizeof(message), 0) != sizeof(message))
        return;
    assert_int_equal(message.op, LINK_PING);
    message.op = LINK_PONG;
    message.u.ping.stuck_ns = stuck_ns;
    worker_says(&message, sizeof(message), -1);
}

static void worker_pongs(void)
{
    worker_pongs_stuck(0);
}

static void a_client_that_lets_go_of_its_segment_has_left(void **state)
{
    struct attached a = attached_make();

    (void)state;
    sweep();
    assert_int_equal(a.session->state, SESSION_OPEN);
    assert_int_equal(worker_hears(), 0); // nothing to ask
    shmdt(a.clients);
    sweep();
    worker_pongs();
    sweep();
    assert_int_equal(a.session->state, SESSION_CLOSING);
    shmdt(a.workers);
    shmdt(a.supervisors);
}

// The kernel takes a killed worker's memory apart first; its end can be seen only after that.
static void a_worker_that_dies_slowly_is_not_taken_for_its_client(void **state)
{
    struct attached a = attached_make();
    struct seg_server *shared = (void *)(a.session->segment + SEG_OFF_SERVER);

    (void)state;
    shmdt(a.workers);
    for (int i = 0; i < 100; i++)
        sweep();
    assert_int_equal(a.session->state, SESSION_OPEN);
    assert_int_equal(worker_hears(), LINK_PING);
    assert_int_equal(worker_hears(), 0); // once
    worker_fail(device, NULL, LINK_SLOT_NONE, "the worker was killed");
    assert_int_equal(a.session->state, SESSION_LOST);
    assert_int_equal(shared->fault.status, GS_ERR_INTERRUPTED);
    sweep();
    assert_int_equal(a.session->state, SESSION_LOST);
    shmdt(a.clients);
    sweep();
    assert_int_equal(a.session->state, SESSION_FREE);
    shmdt(a.supervisors);
}

// What a worker said before the attachment went does not tell whose went.
static void a_pong_to_an_earlier_ping_says_nothing(void **state)
{
    struct attached a = attached_make();

    (void)state;
    worker_ping(device);
    shmdt(a.workers);
    sweep();
    worker_pongs(); // it was alive then
    sweep();
    sweep();
    assert_int_equal(a.session->state, SESSION_OPEN);
    shmdt(a.clients);
    shmdt(a.supervisors);
}

static void standby_hears(struct watch *watch, uint32_t events)
{
    (void)watch;
    (void)events;
}

// Preloads a standby, which is this test: it attaches the segments of which it is told. Returns
// what it has attached of the session's; NULL: nothing.
static void *standby_preloads(const struct session *session)
{
    struct standby *standby = &device->standby;
    struct link_message message = {0};
    void *attached = NULL;
    int pair[2];

    assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    assert_return_code(
        watch_add(&server.loop, &standby->child.link, pair[0], EPOLLIN, standby_hears), 0);
    standby->child.said_ready = true;
    preload_begin(device);
    preload_go_on(device);
    while (message.op != LINK_PRELOAD_END) {
        assert_int_equal(recv(pair[1], &message, sizeof(message), 0), sizeof(message));
        if (message.op == LINK_PRELOAD && message.slot == session->slot &&
            message.u.preload.segment_id >= 0)
            attached = shmat(message.u.preload.segment_id, NULL, 0);
    }
    assert_ptr_not_equal(attached, (void *)-1);
    child_link_close(&server.loop, &standby->child);
    close(pair[1]);
    return attached;
}

static void a_client_is_seen_to_leave_while_a_standby_has_its_session(void **state)
{
    struct attached a = attached_make();
    void *standbys;

    (void)state;
    a.session->journal = -1;
    standbys = standby_preloads(a.session);
    shmdt(a.clients);
    sweep();
    worker_pongs();
    sweep();
    assert_int_equal(a.session->state, SESSION_CLOSING);
    if (standbys)
        shmdt(standbys);
    shmdt(a.workers);
    shmdt(a.supervisors);
}

// Its tenants do not wait for a segment that their standby has attached already.
static void a_standby_attaches_the_segment_of_a_client_whose_process_is_watched(void **state)
{
    struct attached a = attached_make();
    void *standbys;

    (void)state;
    a.session->journal = -1;
    a.session->client = CLIENT_WATCHED;
    standbys = standby_preloads(a.session);
    assert_non_null(standbys);
    shmdt(standbys);
    a.session->client = CLIENT_POLLED;
    shmdt(a.clients);
    shmdt(a.workers);
    shmdt(a.supervisors);
}

// Attaches the segment in a process of its own, and returns that.
static pid_t attacher_start(int segment_id)
{
    int attached[2];
    char byte;

    assert_return_code(pipe(attached), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (shmat(segment_id, NULL, 0) == (void *)-1 || write(attached[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(attached[1]);
    assert_int_equal(read(attached[0], &byte, 1), 1);
    close(attached[0]);
    return pid;
}

static void a_standby_is_not_taken_for_a_client(void **state)
{
    struct session *session = session_in(SESSION_OPEN);
    pid_t *standby = &device->standby.child.pid;

    (void)state;
    session->segment_id = shmget(IPC_PRIVATE, SEG_SIZE, IPC_CREAT | 0600);
    assert_true(session->segment_id >= 0);
    session->attached_base = 0;
    *standby = attacher_start(session->segment_id);
    assert_int_equal(shmctl(session->segment_id, IPC_RMID, NULL), 0);
    liveness_confirm(session);
    assert_return_code(kill(*standby, SIGKILL), 0);
    assert_int_equal(waitpid(*standby, NULL, 0), *standby);
    *standby = 0;
    assert_int_equal(session->client, CLIENT_POLLED);
}

// A second passes.
static void beat(void)
{
    timer_cancel(&server.loop, &device->heartbeat);
    heartbeat_keep(device);
}

static void a_worker_that_stays_silent_is_shown_and_then_ended(void **state)
{
    struct session *session = session_in(SESSION_OPEN);
    struct seg_server *shared = (void *)(session->segment + SEG_OFF_SERVER);

    (void)state;
    for (int i = 0; i < 100; i++) {
        beat();
        worker_pongs();
    }
    assert_false(device_silent(device, 0));
    for (int i = 0; i < 29; i++)
        beat();
    assert_true(device_silent(device, 0));
    assert_int_equal(device->worker.state, WORKER_READY);
    worker_pongs(); // in time
    beat();
    assert_false(device_silent(device, SILENT_NS));
    for (int i = 0; i < 31; i++)
        beat();
    assert_int_equal(device->worker.state, WORKER_ENDING);
    assert_int_equal(session->state, SESSION_LOST);
    assert_int_equal(shared->fault.status, GS_ERR_INTERRUPTED);
    assert_non_null(strstr(shared->fault.message, "has not answered for 30 s"));
}

// A driver call may wait for a long kernel: only who is to end does not wait for it.
static void a_worker_whose_lane_is_stuck_is_ended_for_a_session_whose_grace_is_over(void **state)
{
    struct session *session = session_in(SESSION_OPEN);

    (void)state;
    for (uint64_t s = 0; s < 100; s++) {
        beat();
        worker_pongs_stuck(s * 1000000000u);
        assert_int_equal(device_silent(device, SILENT_NS), s > 0);
        assert_int_equal(device_stuck(device), s > 0);
    }
    beat();
    worker_pongs();
    assert_false(device_silent(device, SILENT_NS));
    device->worker.overdue = session->id;
    beat();
    assert_int_equal(device->worker.state, WORKER_READY);
    worker_pongs_stuck(HUNG_NS);
    device->worker.overdue = session->id;
    beat();
    assert_int_equal(device->worker.state, WORKER_ENDING);
}

// Not even a next supervisor gives more, or one who repeats the kill.
static void a_session_that_is_killed_has_no_more_grace_than_it_was_given(void **state)
{
    struct session *session = session_in(SESSION_OPEN);
    uint64_t due;

    (void)state;
    server_session_kill(session, 0);
    assert_int_equal(session->state, SESSION_CLOSING);
    timer_cancel(&server.loop, &session->evict_by);
    server_session_close_again(session, true);
    due = session->evict_by.due_ns;
    assert_in_range(due, 1, clock_ns() + 1000000);
    server_session_kill(session, 5000);
    assert_int_equal(session->evict_by.due_ns, due);
}

static void a_worker_that_needs_recycling_makes_room_for_another(void **state)
{
    struct link_message message = {.op = LINK_RETIRED, .slot = LINK_SLOT_NONE};
    struct session *session = session_in(SESSION_OPEN);

    (void)state;
    server.options.no_standby = true;
    worker_says_message(LINK_NEEDS_RECYCLING, LINK_SLOT_NONE);
    restart_keep(device);
    assert_int_equal(device->restart.phase, RESTART_NONE);
    server_session_end(session);
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        restart_keep(device);
        restart_keep(device);
        assert_int_equal(worker_hears(), LINK_RETIRE);
        assert_int_equal(worker_hears(), 0); // once
        message.u.retired = attempt ? GS_OK : GS_ERR_TIMEOUT;
        worker_says(&message, sizeof(message), -1);
        assert_int_equal(device->worker.state, attempt ? WORKER_ENDING : WORKER_READY);
        restart_keep(device);
        assert_int_equal(worker_hears(), 0); // not again so soon
        device->restart.next_ns = 0;
    }
    assert_int_equal(device->faults, 0);
    assert_int_equal(device->failures, 0);
    restart_deinit(device);
}

// It is left alone while its standby is not ready and somebody has come.
static void a_worker_that_needs_recycling_keeps_a_session_that_comes(void **state)
{
    struct session *session;

    (void)state;
    worker_says_message(LINK_NEEDS_RECYCLING, LINK_SLOT_NONE);
    restart_keep(device);
    assert_int_equal(device->restart.phase, RESTART_STANDBY);
    session = session_in(SESSION_OPEN);
    restart_keep(device);
    assert_int_equal(device->restart.phase, RESTART_NONE);
    server_session_end(session);
    restart_keep(device);
    assert_int_equal(device->restart.phase, RESTART_STANDBY);
    restart_deinit(device);
}

static void nobodys_worker_is_not_asked(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        beat();
    assert_int_equal(worker_hears(), 0);
    assert_int_equal(device->heartbeat.due_ns, 0);
}

// A worker that does not read is not waited for.
static void messages_that_do_not_fit_are_kept_and_sent_later(void **state)
{
    struct link_message message = {.op = LINK_CLOSE};
    uint32_t sent = 0, heard = 0;

    (void)state;
    while (device->worker.outbox.count < 100) {
        message.slot = sent++;
        worker_send(device, &message);
        assert_true(sent < 100000);
    }
    while (heard < sent) {
        struct link_message got;

        if (recv(worker_end, &got, sizeof(got), 0) < 0)
            worker_link_ready(&device->worker.child.link, EPOLLOUT);
        else
            assert_int_equal(got.slot, heard++);
    }
    assert_int_equal(device->worker.outbox.count, 0);
    // One that never reads is killed rather than have the supervisor's memory grow.
    for (uint32_t i = 0; i < 5 * LINK_SLOTS_MAX; i++)
        worker_send(device, &message);
    int status;
    assert_int_equal(waitpid(device->worker.child.pid, &status, 0), device->worker.child.pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    device->worker.state = WORKER_NONE;
}

#define LINK_TEST(test) cmocka_unit_test_setup_teardown(test, link_setup, link_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINK_TEST(an_opened_session_closes_when_its_client_goes),
        LINK_TEST(the_vault_takes_descriptors_for_sessions_that_have_memory),
        LINK_TEST(memory_that_two_sessions_share_has_a_descriptor_for_each),
        LINK_TEST(what_another_session_lacks_in_the_vault_is_not_shared),
        LINK_TEST(an_import_from_no_other_device_is_refused),
        LINK_TEST(a_next_supervisor_begins_with_a_worker_that_has_said_that_it_is_ready),
        LINK_TEST(a_next_supervisor_takes_a_ready_message_that_was_not_dealt_with),
        LINK_TEST(a_next_supervisor_takes_a_word_about_a_session_that_was_not_dealt_with),
        LINK_TEST(a_worker_that_is_being_ended_still_gives_memory_to_the_vault),
        LINK_TEST(nonsense_ends_the_worker),
        LINK_TEST(a_device_that_cannot_be_ends_the_worker),
        LINK_TEST(messages_of_a_wrong_size_end_the_worker),
        LINK_TEST(only_the_culprit_of_a_fatal_fault_is_blamed),
        LINK_TEST(who_compiles_when_a_worker_crashes_is_blamed),
        LINK_TEST(of_several_who_compile_when_a_worker_crashes_each_is_a_suspect),
        LINK_TEST(who_compiles_when_a_worker_starves_is_blamed_the_second_time),
        LINK_TEST(last_words_are_heard_though_the_worker_left_messages_unread),
        LINK_TEST(sessions_that_are_not_open_end_too_where_their_user_is_kept_out),
        LINK_TEST(a_session_that_waits_to_be_taken_up_is_lost_where_its_user_is_kept_out),
        LINK_TEST(random_messages_never_harm_the_supervisor),
        LINK_TEST(a_client_that_lets_go_of_its_segment_has_left),
        LINK_TEST(a_worker_that_dies_slowly_is_not_taken_for_its_client),
        LINK_TEST(a_pong_to_an_earlier_ping_says_nothing),
        LINK_TEST(a_client_is_seen_to_leave_while_a_standby_has_its_session),
        LINK_TEST(a_standby_attaches_the_segment_of_a_client_whose_process_is_watched),
        LINK_TEST(a_standby_is_not_taken_for_a_client),
        LINK_TEST(a_worker_that_stays_silent_is_shown_and_then_ended),
        LINK_TEST(a_worker_whose_lane_is_stuck_is_ended_for_a_session_whose_grace_is_over),
        LINK_TEST(a_session_that_is_killed_has_no_more_grace_than_it_was_given),
        LINK_TEST(a_worker_that_needs_recycling_makes_room_for_another),
        LINK_TEST(a_worker_that_needs_recycling_keeps_a_session_that_comes),
        LINK_TEST(nobodys_worker_is_not_asked),
        LINK_TEST(messages_that_do_not_fit_are_kept_and_sent_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
