/* bystander.c - see bystander.h. */
#include "bystander.h"

#define WORDS  512u
#define ROUNDS 16u

uint32_t chain_expected(uint32_t word, uint32_t rounds, uint32_t seed)
{
    uint32_t x = word ^ seed;

    for (uint32_t i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x += i;
    }
    return x;
}

struct bystander {
    struct bystanders *all;
    unsigned number;
};

static void round_run(gs_session session, gs_kernel chain, gs_devptr data)
{
    uint32_t input[WORDS], output[WORDS];
    uint32_t n = WORDS, rounds = ROUNDS, seed = (uint32_t)test_random();

    for (unsigned i = 0; i < WORDS; i++)
        input[i] = (uint32_t)test_random();
    CHECK_OK(gs_memcpy_htod(session, data, input, sizeof(input)));
    CHECK_OK(kernels_launch(NULL, chain, WORDS / 128, 128, (void *[]){&data, &n, &rounds, &seed}));
    CHECK_OK(gs_memcpy_dtoh(session, output, data, sizeof(output)));
    for (unsigned i = 0; i < WORDS; i++)
        input[i] = chain_expected(input[i], ROUNDS, seed);
    CHECK_MEMORY(output, input, sizeof(input));
}

static void bystander_run(void *argument)
{
    const struct bystander *self = argument;
    gs_session session;
    gs_devptr data, fresh;
    gs_module module;
    gs_kernel chain;

    CHECK_OK(gs_attach(NULL, &session));
    module = kernels_load(session);
    chain = kernels_get(module, "chain");
    CHECK_OK(gs_malloc(session, WORDS * sizeof(uint32_t), &data));
    while (!atomic_load(&self->all->stop)) {
        round_run(session, chain, data);
        /* Requests too, not only records. */
        CHECK_OK(gs_malloc(session, 4096, &fresh));
        CHECK_OK(gs_free(session, fresh));
        atomic_fetch_add(&self->all->row[self->number].rounds, 1);
    }
    CHECK_OK(gs_detach(session));
}

struct bystanders *bystanders_start(unsigned count)
{
    struct bystanders *all = shared_alloc(sizeof(*all));

    CHECK(count <= BYSTANDERS_MAX);
    all->count = count;
    for (unsigned i = 0; i < count; i++)
        all->pid[i] = tenant_start(bystander_run, &(struct bystander){all, i});
    for (unsigned i = 0; i < count; i++)
        CHECK_WITHIN(20000, atomic_load(&all->row[i].rounds) > 0);
    return all;
}

uint64_t bystanders_rounds(const struct bystanders *all)
{
    uint64_t rounds = 0;

    for (unsigned i = 0; i < all->count; i++)
        rounds += atomic_load(&all->row[i].rounds);
    return rounds;
}

void bystanders_stop(struct bystanders *all)
{
    /* Each must still get something done after all that happened. */
    for (unsigned i = 0; i < all->count; i++) {
        uint64_t now = atomic_load(&all->row[i].rounds);
        CHECK_WITHIN(20000, atomic_load(&all->row[i].rounds) > now + 1);
    }
    atomic_store(&all->stop, 1);
    for (unsigned i = 0; i < all->count; i++)
        tenant_join(all->pid[i]);
}
