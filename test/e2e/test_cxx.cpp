/* test_cxx.cpp - gshare.hpp: handles end with their scope, errors are exceptions, launches have
 * typed arguments. */
#include <cstdint>
#include <gshare.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "harness/harness.h"

/* ---- What the compiler decides ---- */

template <typename T> struct moves_only {
    static const bool value =
        std::is_nothrow_move_constructible<T>::value && std::is_nothrow_move_assignable<T>::value &&
        !std::is_copy_constructible<T>::value && !std::is_copy_assignable<T>::value;
};
static_assert(moves_only<gshare::session>::value && moves_only<gshare::module>::value &&
                  moves_only<gshare::stream>::value && moves_only<gshare::event>::value &&
                  moves_only<gshare::graph>::value && moves_only<gshare::buffer<int>>::value &&
                  moves_only<gshare::host_block<int>>::value,
              "what owns an object moves only");
static_assert(std::is_copy_constructible<gshare::kernel>::value, "a kernel is its module's");
static_assert(!std::is_convertible<gshare::session, gshare::stream>::value,
              "no stream is made by chance");

/* ---- Helpers ---- */

struct scene {
    server *const server_;
    gshare::session session;
    gshare::module module;

    scene() : server_(server_start(nullptr)), session(), module(session, kernels_ptx) {}
    /* After this session and module end, with which they must be the last. */
    void end()
    {
        module.close();
        session.close();
        server_stop(server_);
    }
};

/* The call must throw this status, with a message that has the part. */
template <typename Call>
static void throws(int line, gs_status status, const char *part, Call &&call)
{
    try {
        call();
    } catch (const gshare::error &e) {
        if (e.status() != status)
            test_fail(__FILE__, line, "throws %s", e.what());
        test_check_text(__FILE__, line, "what()", e.what(), part);
        test_check_text(__FILE__, line, "what()", e.what(), gs_status_name(status));
        return;
    }
    test_fail(__FILE__, line, "nothing is thrown");
}
#define THROWS(status, part, call) throws(__LINE__, status, part, [&] { call; })

static void memory_is(const gshare::buffer<uint32_t> &buffer, uint32_t first, uint32_t step)
{
    std::vector<uint32_t> words = buffer.download();

    CHECK_EQUAL(words.size(), buffer.size());
    for (size_t i = 0; i < words.size(); i++)
        CHECK_EQUAL(words[i], first + step * uint32_t(i));
}

/* ---- Tests ---- */

static void launches_take_their_arguments_by_type(void)
{
    scene s;
    struct five {
        uint32_t x[5];
    };
    const size_t threads = 32;
    const int blocks = 4;
    {
        gshare::buffer<uint32_t> words(s.session, 100);
        gshare::buffer<uint64_t> out(s.session, 10);
        gshare::kernel fill = s.module.kernel("fill"), wide = s.module.kernel("many_parameters");
        gshare::stream stream(s.session);

        fill.launch({blocks}, {threads}, words, 7u, 100u);
        memory_is(words, 7, 1);
        fill.launch(4, 32, words.get(), uint32_t(8), int(words.size()));
        memory_is(words, 8, 1);
        fill.launch(stream, {2, 2 - 1, 1L}, {64, 1}, words, 9u, 100u);
        stream.sync();
        memory_is(words, 9, 1);
        fill.launch(s.session.default_stream(), {0 + 4}, {32}, words, 10u, 100u);
        memory_is(words, 10, 1);
        wide.launch({1}, {1}, uint8_t(0xFE), uint16_t(0xFEDC), 0xFEDCBA98u,
                    uint64_t(0xFEDCBA9876543210), five{{1, 22, 333, 4444, 5}}, 1234.25, out);
        std::vector<uint64_t> got = out.download();
        CHECK_EQUAL(got[0], 0xFE);
        CHECK_EQUAL(got[1], 0xFEDC);
        CHECK_EQUAL(got[2], 0xFEDCBA98);
        CHECK_EQUAL(got[3], 0xFEDCBA9876543210);
        s.module.kernel("nothing").launch({1}, {1});
        CHECK_TEXT(fill.info().name, "fill");
        CHECK(fill.occupancy(32) > 0);
    }
    s.end();
}

static void wrong_launches_throw(void)
{
    scene s;
    {
        gshare::buffer<uint32_t> words(s.session, 100);
        gshare::buffer<uint32_t> moved(std::move(words));
        gshare::kernel fill = s.module.kernel("fill");

        THROWS(GS_ERR_PARAMS, "3 parameters", fill.launch({1}, {32}, moved, 7u));
        THROWS(GS_ERR_PARAMS, "3 parameters", fill.launch({1}, {32}));
        THROWS(GS_ERR_PARAMS, "argument 1 is 8 bytes", fill.launch({1}, {32}, moved, 7ul, 100u));
        THROWS(GS_ERR_INVALID_POINTER, "moved from", fill.launch({1}, {32}, words, 7u, 100u));
        THROWS(GS_ERR_LAUNCH_CONFIG, "grid.x is 0", fill.launch({-1}, {32}, moved, 7u, 100u));
        THROWS(GS_ERR_LAUNCH_CONFIG, "grid.x is 4294967295",
               fill.launch({1ull << 40}, {32}, moved, 7u, 100u));
        THROWS(GS_ERR_LAUNCH_CONFIG, "block.x is 0", fill.launch({1}, {0}, moved, 7u, 100u));
        THROWS(GS_ERR_NOT_FOUND, "it has 'fill'", s.module.kernel("_Z4fillv"));
        THROWS(GS_ERR_NOT_FOUND, "no/such/file",
               gshare::module::from_file(s.session, "/no/such/file"));
    }
    s.end();
}

static void launches_have_options(void)
{
    scene s;
    {
        gshare::stream stream(s.session);
        gshare::buffer<uint32_t> words(s.session, 64);
        gs_report_id id = 0;
        gs_report report = GS_REPORT_INIT;
        gs_qos qos = s.session.qos();

        qos.deadline_ns = 1000000000;
        gshare::launch_config config({1}, {64});
        config.on(stream).dynamic_smem(256).qos(qos).report(id);
        s.module.kernel("dynamic_shared").launch(config, words, 64u);
        stream.sync();
        memory_is(words, 63, uint32_t(-1));
        CHECK(id != 0);
        while (!s.session.launch_report(id, report))
            test_pause();
        CHECK(report.sm_count > 0);
        THROWS(GS_ERR_INVALID_VALUE, "fetched before", s.session.launch_report(id, report));
        s.module.kernel("nothing").launch(gshare::launch_config({2}, {32}).cooperative());
        s.session.sync();
    }
    s.end();
}

static void memory_is_copied_in_bounds(void)
{
    scene s;
    {
        gshare::stream stream(s.session);
        gshare::buffer<uint32_t> a(s.session, 1000), b(s.session, 1000);
        gshare::host_block<uint32_t> host(s.session, 1000);
        uint32_t word = 5;

        memory_is(a, 0, 0);
        for (uint32_t &w : host)
            w = uint32_t(&w - host.begin());
        a.upload(stream, host.data(), host.size());
        b.copy(stream, a);
        b.download(stream, host.data(), 500, 500);
        stream.sync();
        CHECK_EQUAL(host[0], 500);
        memory_is(b, 0, 1);
        a.upload(&word, 1, 999);
        CHECK_EQUAL(a.download()[999], 5);
        a.fill(1);
        memory_is(a, 0x01010101, 0);
        a.fill(stream, 0);
        stream.sync();
        memory_is(a, 0, 0);
        THROWS(GS_ERR_INVALID_POINTER, "2 elements from element 999 on, of 1000",
               a.upload(&word, 2, 999));
        THROWS(GS_ERR_INVALID_POINTER, "element 1001", a.download(&word, SIZE_MAX, 1001));
        THROWS(GS_ERR_INVALID_VALUE, "elements of 4 bytes",
               gshare::buffer<uint32_t>(s.session, SIZE_MAX / 2));
        THROWS(GS_ERR_INVALID_VALUE, "", gshare::buffer<uint32_t>(s.session, 0));
        THROWS(GS_ERR_QUOTA, "limit", gshare::buffer<char>(s.session, size_t(1) << 60));
        std::pair<gs_devptr, size_t> table = s.module.global("table");
        CHECK_EQUAL(table.second, 64 * sizeof(uint32_t));
    }
    s.end();
}

static void streams_events_and_graphs_order_work(void)
{
    scene s;
    {
        gshare::stream one(s.session), two(s.session, s.session.qos());
        gshare::event begin(s.session), end(s.session);
        gshare::buffer<uint32_t> count(s.session, 1);
        gshare::kernel increment = s.module.kernel("increment");

        begin.record(one);
        gshare::graph graph = one.record([&] {
            for (int i = 0; i < 10; i++)
                increment.launch(one, {1}, {1}, count);
        });
        memory_is(count, 0, 0);
        for (int i = 0; i < 3; i++)
            graph.launch(one);
        end.record(one);
        two.wait(end);
        increment.launch(two, {1}, {1}, count);
        two.sync();
        CHECK(two.query());
        end.sync();
        CHECK(end.query());
        CHECK(end.sync_for(0) && two.sync_for(0));
        close(end.fd());
        CHECK(end.elapsed_since(begin) >= 0);
        memory_is(count, 31, 0);
        graph.launch(s.session.default_stream());
        s.session.sync();
        memory_is(count, 41, 0);

        /* What throws while it is recorded leaves the stream as it was. */
        THROWS(GS_ERR_PARAMS, "increment",
               one.record([&] { increment.launch(one, {1}, {1}, 1u, 2u); }));
        increment.launch(one, {1}, {1}, count);
        one.sync();
        memory_is(count, 42, 0);
    }
    s.end();
}

static void moved_from_and_closed_objects_hold_nothing(void)
{
    scene s;
    {
        gshare::kernel fill = s.module.kernel("fill");
        const uint64_t before = server_memory_used(s.server_); /* the module's variables */
        gshare::stream a(s.session);
        gshare::stream b(std::move(a));
        gshare::buffer<uint32_t> words(s.session, 10), other(s.session, 20);
        const gs_devptr was = words.get();

        CHECK(a.get() == nullptr && b.get() != nullptr);
        THROWS(GS_ERR_INVALID_HANDLE, "moved from", a.sync());
        THROWS(GS_ERR_INVALID_HANDLE, "moved from", fill.launch(a, {1}, {10}, words, 1u, 10u));
        a = std::move(b);
        fill.launch(a, {1}, {10}, words, 1u, 10u);
        a.sync();
        other = std::move(words);
        CHECK(other.get() == was && other.size() == 10 && words.get() == 0 && words.size() == 0);
        memory_is(other, 1, 1);
        other.close();
        other.close();
        a.close();

        gshare::module second(s.session, kernels_ptx);
        fill = second.kernel("fill");
        CHECK(second.kernels().size() > 2);
        second.close();
        THROWS(GS_ERR_INVALID_HANDLE, "kernel", fill.launch({1}, {1}, 0ul, 0u, 0u));
        THROWS(GS_ERR_INVALID_HANDLE, "module", second.kernel("fill"));
        CHECK_EQUAL(server_memory_used(s.server_), before);
        gshare::module::link(s.session, {{kernels_ptx, 0}}).kernel("fill");
    }
    s.end();
}

static void objects_that_outlive_their_session_are_harmless(void)
{
    server *server = server_start(nullptr);
    {
        gshare::session *session = new gshare::session;
        gshare::stream stream(*session);
        gshare::event event(*session);
        gshare::buffer<float> buffer(*session, 10);
        gshare::host_block<float> host(*session, 10);
        gshare::module module(*session, kernels_ptx);

        delete session;
        THROWS(GS_ERR_INVALID_HANDLE, "", buffer.fill(0));
        THROWS(GS_ERR_INVALID_HANDLE, "", stream.sync());
    }
    CHECK_EQUAL(server_tenants(server), 0);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    params.instance = "no-such-server";
    THROWS(GS_ERR_NO_SERVER, "no-such-server", gshare::session{params});
    server_stop(server);
}

static void threads_share_a_session(void)
{
    scene s;
    {
        gshare::buffer<uint32_t> count(s.session, 1);
        gshare::kernel kernel = s.module.kernel("count");
        std::vector<std::thread> threads;

        for (int i = 0; i < 4; i++)
            threads.emplace_back([&] {
                gshare::stream own(s.session);
                for (int n = 0; n < 100; n++)
                    kernel.launch(own, {1}, {8}, count);
                own.sync();
            });
        for (std::thread &thread : threads)
            thread.join();
        memory_is(count, 3200, 0);
        CHECK(s.session.info().sm_count > 0);
        CHECK(s.session.last_fault().kind == GS_FAULT_NONE);
        s.session.set_qos(s.session.qos());
    }
    s.end();
}

static const struct test tests[] = {
    TEST(launches_take_their_arguments_by_type),
    TEST(wrong_launches_throw),
    TEST(launches_have_options),
    TEST(memory_is_copied_in_bounds),
    TEST(streams_events_and_graphs_order_work),
    TEST(moved_from_and_closed_objects_hold_nothing),
    TEST(objects_that_outlive_their_session_are_harmless),
    TEST(threads_share_a_session),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
