/* fake_tenant.h - a session of the fake server, and its records; for fake_server.c. */
#ifndef GS_TEST_FAKE_TENANT_H
#define GS_TEST_FAKE_TENANT_H

#include <stdbool.h>

#include "common/wire.h"

#define BLOCKS_MAX 64u
#define GRAPHS_MAX 16u

struct block {
    unsigned char *memory;
    uint64_t size;
};

struct tenant {
    bool used, confirmed;
    uint64_t id, cookie;
    int segment_id;
    uint32_t grant_sequence;
    unsigned char *segment;
    struct seg_client *client;
    struct seg_complete *complete;
    struct seg_server *server;
    struct seg_request *request;
    uint64_t head[SEG_STREAMS];
    bool stream[SEG_STREAMS];
    struct block block[BLOCKS_MAX];
    struct {
        unsigned char *records;
        uint64_t size;
    } graph[GRAPHS_MAX];
    gs_status refuse;
    char refuse_message[64];
};

/* Ends the process unless the condition holds. */
void fake_must(bool condition, const char *what);
/* Does what a record says. Returns false when the record must wait. */
bool fake_record_run(struct tenant *tenant, const unsigned char *bytes);

#endif
