// Memory that a session of one device lends a session of another one, as the supervisor sees it:
// what each worker is asked, told and given, what is taken back, and what stays bounded.
#include <setjmp.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/session/peer_memory.h"
#include "server/state/server.h"
#include "server/workers/messages.h"
#include "server/workers/process.h"

#define SLOTS  8u
#define SIZE   0x200000u
#define AT     0x10000000u
#define MAPPED 0x90000000u
#define OWNER  0 // the devices
#define PEER   1
#define UID    1000u
#define MANY   20000u // more than a worker's outbox takes (worker_link.c)

static struct server server;
static int worker_end[2]; // of the socketpairs
static _Alignas(4096) unsigned char segment[SLOTS][SEG_SIZE];

// What grows finds no memory.
static bool no_memory;

void *reallocarray(void *memory, size_t count, size_t size)
{
    return no_memory ? NULL : realloc(memory, count * size);
}

static int device_setup(int index)
{
    struct device *device = &server.device[index];
    int pair[2];

    device_init(device, &server, index);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0 ||
        watch_add(&server.loop, &device->worker.child.link, pair[0], EPOLLIN, worker_link_ready) <
            0)
        return -1;
    worker_end[index] = pair[1];
    device->worker.state = WORKER_READY;
    device->worker.child.pid = 1000 + index; // nobody is signalled: there is no pidfd
    return 0;
}

static int peers_setup(void **state)
{
    static struct status_page page;

    (void)state;
    log_init("test", "error");
    memset(&server, 0, sizeof(server));
    server.options.instance = "unit";
    server.status.page = &page;
    server.phase = PHASE_SERVING;
    server.device_count = 2;
    server.descriptors_max = 1024;
    if (loop_init(&server.loop) < 0 || !registry_init(&server.registry, SLOTS, NULL))
        return -1;
    return device_setup(OWNER) || device_setup(PEER) || !account_get(&server.accounts, UID);
}

static int peers_teardown(void **state)
{
    (void)state;
    for (struct session *s = NULL; (s = registry_next(&server.registry, s));)
        server_session_end(s);
    timer_cancel(&server.loop, &server.peers_soon);
    for (int i = 0; i < server.device_count; i++) {
        worker_link_deinit(&server.device[i]);
        device_deinit(&server.device[i]);
        close(worker_end[i]);
    }
    registry_deinit(&server.registry);
    loop_deinit(&server.loop);
    return 0;
}

static struct session *session_on(int index)
{
    struct session *session = registry_take(&server.registry);

    assert_non_null(session);
    session->server = &server;
    session->device = &server.device[index];
    session->device->sessions++;
    session->id = ++server.sessions_total;
    session->uid = UID;
    session->journal = -1;
    session->state = SESSION_OPEN;
    session->segment = segment[session->slot]; // not System V's
    memset(session->segment, 0, SEG_SIZE);
    session->vault.owner = session->id;
    return session;
}

static void says(int index, const struct link_message *message, int fd)
{
    assert_true(link_write(worker_end[index], message, fd));
    worker_receive(&server.device[index]);
    assert_int_equal(server.device[index].worker.state, WORKER_READY);
}

// The round ends, and the worker hears one message; op 0: none.
static struct link_message hears_with(int index, int *fd)
{
    struct link_control control;
    struct link_message message = {.op = 0};
    int came = -1;

    peer_memory_go_on(&server);
    if (link_read(worker_end[index], &message, &control, &came) != sizeof(message))
        message.op = 0;
    if (fd)
        *fd = came;
    else if (came >= 0)
        close(came);
    return message;
}

static struct link_message hears(int index, uint32_t op)
{
    const struct link_message message = hears_with(index, NULL);

    assert_int_equal(message.op, op);
    return message;
}

static ino_t inode(int fd)
{
    struct stat stat;

    assert_int_equal(fstat(fd, &stat), 0);
    return stat.st_ino;
}

static struct session *owner_new(uint64_t address)
{
    struct session *owner = session_on(OWNER);
    struct link_message message = {.op = LINK_VAULT_PUT, .slot = owner->slot};
    const int fd = memfd_create("memory", MFD_CLOEXEC);

    message.u.vault = (struct link_vault){address, SIZE, 0};
    says(OWNER, &message, fd);
    close(fd);
    assert_int_equal(owner->vault.count, 1);
    return owner;
}

static void asks(const struct session *importer, uint64_t ask)
{
    struct link_message message = {.op = LINK_PEER_IMPORT, .slot = importer->slot};

    message.u.peer_ask.ask = ask;
    link_handle_set_device(message.u.peer_ask.handle, OWNER);
    says(PEER, &message, -1);
}

static void exported_of(const struct session *importer, const struct session *owner, uint64_t size)
{
    struct link_message message = hears(OWNER, LINK_PEER_EXPORT);

    assert_int_equal(message.slot, importer->slot);
    assert_int_equal(message.u.peer_ask.session_id, importer->id);
    assert_int_equal(message.u.peer_ask.uid, UID);
    message.op = LINK_PEER_EXPORTED;
    message.u.peer_answer = (struct link_peer_answer){.ask = message.u.peer_ask.ask,
                                                      .from = owner->slot,
                                                      .address = AT,
                                                      .size = size,
                                                      .piece_size = SIZE};
    says(OWNER, &message, -1);
}

static void exported(const struct session *importer, const struct session *owner)
{
    exported_of(importer, owner, SIZE);
}

// Returns the loan's number.
static uint64_t given(const struct session *importer, const struct session *owner)
{
    static uint64_t ask;
    struct link_message message;

    asks(importer, ++ask);
    exported(importer, owner);
    message = hears(PEER, LINK_PEER_IMPORTED);
    assert_int_equal(message.u.peer_answer.status, GS_OK);
    assert_int_equal(message.u.peer_answer.ask, ask);
    return message.u.peer_answer.number;
}

static void mapped(const struct session *importer, uint64_t address, uint64_t size, uint64_t number)
{
    struct link_message message = {.op = LINK_VAULT_PEER, .slot = importer->slot};

    message.u.vault = (struct link_vault){address, size, number};
    says(PEER, &message, -1);
}

static void says_of(int index, uint32_t op, const struct session *session, uint64_t address)
{
    struct link_message message = {.op = op, .slot = session->slot};

    message.u.vault = (struct link_vault){address, SIZE, 0};
    says(index, &message, -1);
}

static void revoked(uint64_t number)
{
    assert_int_equal(hears(PEER, LINK_PEER_REVOKE).u.vault.number, number);
}

static void lingers(uint64_t bytes)
{
    const struct link_message message = hears(OWNER, LINK_LINGERING);

    assert_int_equal(message.u.lingering.uid, UID);
    assert_int_equal(message.u.lingering.bytes, bytes);
}

static uint32_t pieces(void)
{
    return account_find(&server.accounts, UID)->pieces;
}

// ---- Importing ----

static void a_granted_export_brings_the_memory_and_is_kept(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    struct link_message message;
    int fd;

    (void)state;
    asks(importer, 7);
    exported(importer, owner);
    message = hears_with(PEER, &fd);
    assert_int_equal(message.op, LINK_PEER_IMPORTED);
    assert_int_equal(message.slot, importer->slot);
    assert_int_equal(message.u.peer_answer.ask, 7);
    assert_int_equal(message.u.peer_answer.status, GS_OK);
    assert_int_equal(message.u.peer_answer.from, OWNER);
    assert_int_equal(message.u.peer_answer.size, SIZE);
    assert_int_equal(message.u.peer_answer.window_size, 0); // of another process
    assert_int_equal(inode(fd), inode(owner->vault.entry[0]->fd));
    assert_int_equal(pieces(), 2);
    mapped(importer, MAPPED, SIZE, message.u.peer_answer.number);
    assert_int_equal(importer->vault.count, 1);
    assert_int_equal(importer->vault.entry[0]->address, MAPPED);
    assert_int_equal(inode(importer->vault.entry[0]->fd), inode(fd));
    assert_true(importer->vault.entry[0]->fd != owner->vault.entry[0]->fd);
    assert_int_equal(pieces(), 2);
    assert_int_equal(hears(PEER, 0).op, 0);
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    assert_int_equal(importer->vault.count, 0);
    assert_int_equal(pieces(), 1);
    assert_int_equal(hears(OWNER, 0).op, 0); // nothing lingers
    close(fd);
}

static void the_owners_window_is_told_to_its_own_process_alone(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    struct link_message message;

    (void)state;
    owner->window_base = 0x4000;
    owner->window_size = 0x8000;
    owner->pid = importer->pid = 77;
    asks(importer, 1);
    exported(importer, owner);
    message = hears(PEER, LINK_PEER_IMPORTED);
    assert_int_equal(message.u.peer_answer.window_base, 0x4000);
    assert_int_equal(message.u.peer_answer.window_size, 0x8000);
}

// What the worker is told of the session's window.
static struct link_peer_answer window_told(const struct session *asker, uint64_t session_id)
{
    struct link_message message = {.op = LINK_PEER_WINDOW, .slot = asker->slot};

    message.u.peer_ask = (struct link_peer_ask){.ask = 5, .session_id = session_id};
    says(PEER, &message, -1);
    message = hears(PEER, LINK_PEER_IMPORTED);
    assert_int_equal(message.slot, asker->slot);
    assert_int_equal(message.u.peer_answer.ask, 5);
    assert_int_equal(message.u.peer_answer.status, GS_OK);
    return message.u.peer_answer;
}

static void a_window_is_told_to_sessions_of_its_process_on_other_devices(void **state)
{
    struct session *owner = session_on(OWNER), *asker = session_on(PEER);

    (void)state;
    owner->window_base = 0x4000;
    owner->window_size = 0x8000;
    assert_int_equal(window_told(asker, owner->id).window_size, 0); // pids that are not known
    owner->pid = 77;
    asker->pid = 78;
    assert_int_equal(window_told(asker, owner->id).window_size, 0);
    asker->pid = 77;
    assert_int_equal(window_told(asker, owner->id).window_size, 0x8000);
    assert_int_equal(window_told(asker, owner->id).window_base, 0x4000);
    assert_int_equal(window_told(asker, owner->id + 100).window_size, 0);
    assert_int_equal(window_told(asker, asker->id).window_size, 0);
    owner->state = SESSION_WAITING;
    assert_int_equal(window_told(asker, owner->id).window_size, 0);
    owner->resuming = true; // with the same window
    assert_int_equal(window_told(asker, owner->id).window_size, 0x8000);
    owner->resuming = false;
    owner->state = SESSION_OPEN;
}

static void an_export_that_the_vault_has_not_is_refused(void **state)
{
    struct session *owner = owner_new(AT + SIZE), *importer = session_on(PEER);

    (void)state;
    asks(importer, 1);
    exported(importer, owner); // at AT
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_ERR_LIMIT);
    assert_int_equal(pieces(), 1);
}

// A worker may be a tenant's who has taken it over.
static void an_export_larger_than_its_memory_is_refused(void **state)
{
    static const uint64_t sizes[] = {0, SIZE + 1, UINT64_C(1) << 46};
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        asks(importer, i + 1);
        exported_of(importer, owner, sizes[i]);
        assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_ERR_LIMIT);
    }
}

static void a_user_with_all_its_pieces_imports_nothing_more(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);
    struct session *second = session_on(PEER);

    (void)state;
    server.settings.everybody = (struct ctl_settings){.fields = CTL_USER_PIECES, .user_pieces = 2};
    asks(second, 1);
    exported(second, owner);
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_ERR_LIMIT);
    mapped(importer, MAPPED, SIZE, number); // it had its piece when it was given the memory
    assert_int_equal(importer->vault.count, 1);
    assert_false(importer->vault_short);
    assert_int_equal(hears(PEER, 0).op, 0);
}

static void what_could_not_be_mapped_is_nobodys(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    mapped(importer, 0, 0, number);
    assert_int_equal(importer->vault.count, 0);
    assert_int_equal(pieces(), 1);
    assert_int_equal(hears(PEER, 0).op, 0);
    says_of(OWNER, LINK_VAULT_DROP, owner, AT);
    assert_int_equal(server.accounts.entry[0].lingering[OWNER], 0);
}

static void an_asker_that_ends_is_answered(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    asks(importer, 5);
    server_session_close(importer);
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_ERR_INVALID_HANDLE);
    hears(PEER, LINK_CLOSE);
    assert_int_equal(hears(OWNER, 0).op, 0);
    (void)owner;
}

// The owner's worker may be asked once only for each import, and again only by a next worker.
static void each_worker_of_the_owners_is_asked_once(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    server.device[OWNER].resuming = 1;
    asks(importer, 5);
    assert_int_equal(hears(OWNER, 0).op, 0);
    server.device[OWNER].resuming = 0;
    hears(OWNER, LINK_PEER_EXPORT);
    assert_int_equal(hears(OWNER, 0).op, 0);
    server.device[OWNER].worker.child.pid++;
    exported(importer, owner);
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_OK);
}

// ---- Taking back ----

static void all_imports_of_a_loan_are_taken_back_by_one_message(void **state)
{
    static const uint32_t ways[] = {LINK_REVOKE, LINK_VAULT_DROP};

    (void)state;
    for (unsigned way = 0; way < ARRAY_SIZE(ways); way++) {
        struct session *owner = owner_new(AT), *first = session_on(PEER),
                       *second = session_on(PEER);
        const uint64_t number = given(first, owner);

        mapped(first, MAPPED, SIZE, number);
        assert_int_equal(given(first, owner), number);
        mapped(first, MAPPED + SIZE, SIZE, number);
        assert_int_equal(given(second, owner), number);
        mapped(second, MAPPED, SIZE, number);
        says_of(OWNER, ways[way], owner, AT);
        revoked(number);
        assert_int_equal(hears(PEER, 0).op, 0);
        lingers(SIZE); // once
        says_of(PEER, LINK_VAULT_DROP, first, MAPPED);
        says_of(PEER, LINK_VAULT_DROP, second, MAPPED);
        assert_int_equal(hears(OWNER, 0).op, 0);
        says_of(PEER, LINK_VAULT_DROP, first, MAPPED + SIZE);
        lingers(0);
        server_session_end(owner);
        server_session_end(first);
        server_session_end(second);
        assert_int_equal(pieces(), 0);
    }
}

// A session that is being taken up is not yet in its worker's table.
static void what_is_taken_back_while_sessions_are_taken_up_is_told_afterwards(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    mapped(importer, MAPPED, SIZE, number);
    server.device[PEER].resuming = 1;
    says_of(OWNER, LINK_REVOKE, owner, AT);
    assert_int_equal(hears(PEER, 0).op, 0);
    server.device[PEER].resuming = 0;
    revoked(number);
}

static void what_is_lent_anew_is_another_loan(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t first = given(importer, owner);
    uint64_t second;

    (void)state;
    mapped(importer, MAPPED, SIZE, first);
    says_of(OWNER, LINK_REVOKE, owner, AT);
    revoked(first);
    lingers(SIZE);
    second = given(importer, owner);
    assert_true(second != first);
    mapped(importer, MAPPED + SIZE, SIZE, second);
    assert_int_equal(hears(PEER, 0).op, 0);
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    lingers(0);
    says_of(OWNER, LINK_VAULT_DROP, owner, AT);
    revoked(second);
}

// The other sessions of the device keep their imports where the supervisor has no memory for one.
static void an_import_without_memory_for_it_is_refused_before_it_is_made(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER), *other = session_on(PEER);
    const uint64_t number = given(other, owner);
    struct link_message message;

    (void)state;
    mapped(other, MAPPED, SIZE, number);
    asks(importer, 99);
    no_memory = true;
    exported(importer, owner);
    message = hears(PEER, LINK_PEER_IMPORTED);
    no_memory = false;
    assert_int_equal(message.u.peer_answer.status, GS_ERR_LIMIT);
    assert_int_equal(pieces(), 2);
    assert_int_equal(given(importer, owner), number);
    no_memory = true;
    mapped(importer, MAPPED, SIZE, number);
    no_memory = false;
    assert_int_equal(importer->vault.count, 1);
    assert_int_equal(hears(PEER, 0).op, 0);
}

// It counts against the owner until the importer says that it has let go.
static void what_is_taken_back_before_it_is_mapped_is_told_again(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    says_of(OWNER, LINK_VAULT_DROP, owner, AT);
    revoked(number); // the worker has no import yet
    lingers(SIZE);
    mapped(importer, MAPPED, SIZE, number);
    revoked(number);
    assert_int_equal(hears(OWNER, 0).op, 0);
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    lingers(0);
}

static void what_was_not_given_is_taken_back(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER), *other = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    mapped(other, MAPPED, SIZE, number);
    assert_int_equal(other->vault.count, 0);
    revoked(number);
    mapped(importer, MAPPED, SIZE, number + 1);
    assert_int_equal(importer->vault.count, 0);
    revoked(number + 1);
    mapped(importer, MAPPED, 2 * SIZE, number);
    assert_int_equal(importer->vault.count, 0);
    revoked(number);
    assert_int_equal(pieces(), 1);
}

static void the_next_worker_is_told_what_was_taken_back(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    mapped(importer, MAPPED, SIZE, number);
    server.device[PEER].worker.state = WORKER_NONE;
    server_session_end(owner);
    assert_int_equal(hears(PEER, 0).op, 0);
    server.device[PEER].worker.state = WORKER_READY;
    server.device[PEER].worker.child.pid++;
    revoked(number); // in vain, perhaps: the session is not taken up yet
    peer_imports_tell(importer);
    revoked(number);
    assert_int_equal(hears(PEER, 0).op, 0);
}

static void the_next_worker_is_told_what_lingers(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    mapped(importer, MAPPED, SIZE, given(importer, owner));
    server_session_end(owner);
    lingers(SIZE);
    assert_int_equal(hears(OWNER, 0).op, 0);
    server.device[OWNER].worker.child.pid++;
    lingers(SIZE);
    assert_int_equal(hears(OWNER, 0).op, 0);
}

// A device may fail for good: there is no next worker to be told that nothing lingers any more.
static void a_user_is_forgotten_though_the_worker_that_was_told_has_gone(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    mapped(importer, MAPPED, SIZE, given(importer, owner));
    server_session_end(owner);
    lingers(SIZE);
    worker_kill(&server.device[OWNER]);
    for (uid_t uid = UID + 1; server.accounts.count < ACCOUNTS_MAX; uid++)
        account_get(&server.accounts, uid)->sessions = 1;
    assert_null(account_get(&server.accounts, 1)); // of the first user memory lingers yet
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    server_session_end(importer);
    assert_non_null(account_get(&server.accounts, 1));
    assert_null(account_find(&server.accounts, UID));
}

// What waits for a worker's socket is lost, too.
static void supervisor_is_killed(void)
{
    accounts_restore(&server.accounts);
    for (int i = 0; i < server.device_count; i++) {
        struct device *device = &server.device[i];

        free(device->worker.outbox.waiting);
        device->worker.outbox = (struct outbox){0};
        word_queue_deinit(&device->news.words);
        device->news = (struct loan_news){0};
    }
    peer_memory_restore(&server);
}

// The supervisor was killed before it could tell that nothing lingers any more.
static void the_next_supervisor_tells_what_lingers_no_more(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);

    (void)state;
    mapped(importer, MAPPED, SIZE, given(importer, owner));
    server_session_end(owner);
    lingers(SIZE);
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    supervisor_is_killed();
    lingers(0);
    assert_int_equal(hears(OWNER, 0).op, 0);
}

static void also_where_that_waited_for_the_workers_socket(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const struct link_message ping = {.op = LINK_PING, .slot = LINK_SLOT_NONE};
    struct device *device = &server.device[OWNER];

    (void)state;
    mapped(importer, MAPPED, SIZE, given(importer, owner));
    server_session_end(owner);
    lingers(SIZE);
    while (device->worker.outbox.count == 0)
        worker_send(device, &ping);
    hears(OWNER, LINK_PING);
    worker_flush(device); // the socket is full, and nothing waits
    says_of(PEER, LINK_VAULT_DROP, importer, MAPPED);
    peer_memory_go_on(&server);
    assert_int_equal(device->worker.outbox.count, 1);
    supervisor_is_killed();
    struct link_message message = ping;
    while (message.op == LINK_PING) {
        message = hears_with(OWNER, NULL);
        worker_flush(device);
    }
    assert_int_equal(message.op, LINK_LINGERING);
    assert_int_equal(message.u.lingering.bytes, 0);
    assert_int_equal(hears(OWNER, 0).op, 0);
}

// Until all workers have said what they have, and in whatever order they do, nothing is lost.
static void what_is_taken_back_while_a_supervisor_is_replaced_is_told_afterwards(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    const uint64_t number = given(importer, owner);

    (void)state;
    server.restoring = true;
    says_of(OWNER, LINK_VAULT_DROP, owner, AT);
    mapped(importer, MAPPED, SIZE, number);
    mapped(importer, MAPPED + SIZE, SIZE, number); // what it was not given
    assert_int_equal(hears(PEER, 0).op, 0);
    assert_int_equal(hears(OWNER, 0).op, 0);
    peer_memory_restore(&server);
    for (unsigned i = 0; i < 3; i++)
        revoked(number);
    assert_int_equal(hears(PEER, 0).op, 0);
    lingers(SIZE);
}

// ---- Bounds ----

// A worker's socket takes some hundred messages. The rest wait, without ending the worker, and are
// told in order.
static void a_flood_of_revocations_waits_for_its_worker(void **state)
{
    struct device *device = &server.device[PEER];

    (void)state;
    for (uint64_t number = 1; number <= MANY; number++) {
        loan_revoke_on(device, number);
        peer_memory_go_on(&server);
        assert_true(device->worker.outbox.count <= 1);
    }
    assert_true(device->worker.child.link.fd >= 0);
    assert_true(device->news.words.count > MANY / 2);
    for (uint64_t number = 1; number <= MANY; number++) {
        worker_flush(device);
        revoked(number);
    }
    assert_int_equal(device->news.words.count, 0);
}

// A round sends a bounded number, and another round follows at once.
static void a_round_tells_a_bounded_number(void **state)
{
    struct device *device = &server.device[PEER];

    (void)state;
    for (uint64_t number = 1; number <= 1000; number++)
        loan_revoke_on(device, number);
    peer_memory_go_on(&server);
    assert_int_equal(device->news.words.count, 1000 - 64);
    assert_true(server.peers_soon.due_ns != 0);
}

// Nothing is lent to a device that has much to take back first.
static void a_device_with_much_to_take_back_is_lent_nothing_meanwhile(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    struct device *device = &server.device[PEER];

    (void)state;
    for (uint64_t number = 1; number <= MANY; number++)
        loan_revoke_on(device, number);
    for (unsigned round = 0; round < MANY / 64; round++) // until the socket is full
        peer_memory_go_on(&server);
    asks(importer, 9);
    assert_int_equal(hears(OWNER, 0).op, 0);
    for (uint64_t number = 1; number <= MANY; number++) {
        worker_flush(device);
        revoked(number);
    }
    exported(importer, owner);
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_OK);
}

static void a_loan_has_a_bounded_number_of_imports(void **state)
{
    struct session *owner = owner_new(AT), *importer = session_on(PEER);
    struct loan *loan;

    (void)state;
    loan = loan_find(&server, given(importer, owner));
    assert_non_null(loan);
    loan->holders += LOAN_HOLDERS_MAX - 1;
    asks(importer, 1);
    exported(importer, owner);
    assert_int_equal(hears(PEER, LINK_PEER_IMPORTED).u.peer_answer.status, GS_ERR_LIMIT);
    loan->holders -= LOAN_HOLDERS_MAX - 1;
}

#define PEERS_TEST(name) cmocka_unit_test_setup_teardown(name, peers_setup, peers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PEERS_TEST(a_granted_export_brings_the_memory_and_is_kept),
        PEERS_TEST(the_owners_window_is_told_to_its_own_process_alone),
        PEERS_TEST(a_window_is_told_to_sessions_of_its_process_on_other_devices),
        PEERS_TEST(an_export_that_the_vault_has_not_is_refused),
        PEERS_TEST(an_export_larger_than_its_memory_is_refused),
        PEERS_TEST(a_user_with_all_its_pieces_imports_nothing_more),
        PEERS_TEST(what_could_not_be_mapped_is_nobodys),
        PEERS_TEST(an_asker_that_ends_is_answered),
        PEERS_TEST(each_worker_of_the_owners_is_asked_once),
        PEERS_TEST(all_imports_of_a_loan_are_taken_back_by_one_message),
        PEERS_TEST(what_is_taken_back_while_sessions_are_taken_up_is_told_afterwards),
        PEERS_TEST(what_is_lent_anew_is_another_loan),
        PEERS_TEST(what_is_taken_back_before_it_is_mapped_is_told_again),
        PEERS_TEST(an_import_without_memory_for_it_is_refused_before_it_is_made),
        PEERS_TEST(what_was_not_given_is_taken_back),
        PEERS_TEST(the_next_worker_is_told_what_was_taken_back),
        PEERS_TEST(the_next_worker_is_told_what_lingers),
        PEERS_TEST(a_user_is_forgotten_though_the_worker_that_was_told_has_gone),
        PEERS_TEST(the_next_supervisor_tells_what_lingers_no_more),
        PEERS_TEST(also_where_that_waited_for_the_workers_socket),
        PEERS_TEST(what_is_taken_back_while_a_supervisor_is_replaced_is_told_afterwards),
        PEERS_TEST(a_flood_of_revocations_waits_for_its_worker),
        PEERS_TEST(a_round_tells_a_bounded_number),
        PEERS_TEST(a_device_with_much_to_take_back_is_lent_nothing_meanwhile),
        PEERS_TEST(a_loan_has_a_bounded_number_of_imports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
