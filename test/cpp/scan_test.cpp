/* SPDX-License-Identifier: MIT */
/* A dump read by many threads, in windows so small that lines are cut everywhere, is what one thread reads at once. */
#include "scan.hpp"

#include <algorithm>
#include <thread>

#include "check.h"
#include "comparison.hpp"
#include "text_dump.hpp"

using namespace heapline;

namespace {

std::string sample(uint32_t objects) {
    std::string text = root_line({0, 1});
    for (uint32_t i = 0; i < objects; i++) {
        std::string place = ", \"file\":\"f" + std::to_string(i % 13) + ".rb\", \"line\":" + std::to_string(i % 5) +
                            ", \"generation\":" + std::to_string(i % 3);
        text += object_line(i, {i + 1, (i * 7) % objects}, 40 + i % 3, i % 2 ? place : "");
        if (i % 100 == 0) text += "damage\n";
        if (i % 50 == 0) text += "{\"type\":\"HEAPLINE_CODE\",\"address\":" + hex(address_of(i)) + "}\n";
        if (i % 60 == 0)
            text += "{\"address\":" + hex(address_of(2 * objects + i)) + ",\"type\":\"CLASS\",\"name\":\"C\"}\n" +
                    "{\"type\":\"HEAPLINE_CLASS\",\"address\":" + hex(address_of(2 * objects + i)) +
                    ",\"path\":\"c.rb\",\"lineno\":" + std::to_string(i + 1) + "}\n";
        if (i % 10 == 0)
            text += "{\"address\":" + hex(address_of(objects + i)) + ",\"type\":\"STRING\",\"value\":\"v\\n" +
                    std::to_string(i % 4) + "\",\"memsize\":40}\n";
    }
    return text;
}

void check_same(const Dump &dump, const Dump &wanted) {
    CHECK_EQUAL(dump.survey().all.count, wanted.survey().all.count);
    CHECK_EQUAL(dump.survey().all.bytes, wanted.survey().all.bytes);
    CHECK_EQUAL(dump.survey().references, wanted.survey().references);
    CHECK_EQUAL(dump.survey().places.size(), wanted.survey().places.size());
    CHECK_EQUAL(dump.problems().size(), wanted.problems().size());
    for (size_t i = 0; i < dump.problems().size(); i++) CHECK(dump.problems()[i] == wanted.problems()[i]);
    CHECK_EQUAL(dump.nodes()->objects(), wanted.nodes()->objects());
    CHECK_EQUAL(dump.nodes()->outgoing().ends.size(), wanted.nodes()->outgoing().ends.size());
    for (uint32_t node = 0; node < dump.nodes()->objects(); node++) {
        CHECK_EQUAL(dump.nodes()->node(node).address, wanted.nodes()->node(node).address);
        CHECK(dump.nodes()->value(node) == wanted.nodes()->value(node));
        CHECK_EQUAL(dump.definition(node).line, wanted.definition(node).line);
    }
    CHECK_EQUAL(dump.duplicates()->worst(10).size(), wanted.duplicates()->worst(10).size());
}

void test_threads_and_windows() {
    TextFile file(sample(3000));
    Job job;
    Dump wanted(file.path());
    wanted.read({Dump::graph, true, true}, job, {1, size_t{64} << 20});
    CHECK_EQUAL(wanted.survey().all.count, 3350);
    uint32_t defined = 0;
    for (uint32_t node = 0; node < wanted.nodes()->objects(); node++)
        defined += wanted.vocabulary().text(wanted.definition(node).file) == "c.rb" && wanted.definition(node).line;
    CHECK_EQUAL(defined, 50);
    CHECK_EQUAL(wanted.duplicates()->worst(10).size(), 2);
    CHECK_EQUAL(std::count(wanted.notes()->begin(), wanted.notes()->end(), '\n'), 60);
    for (size_t window : {1, 7, 100, 1000, 100000}) {
        for (unsigned threads : {1, 4}) {
            Dump dump(file.path());
            dump.read({Dump::graph, true, true}, job, {threads, window, threads == 1 ? Store::IN_MEMORY : 0});
            check_same(dump, wanted);
            CHECK(*dump.notes() == *wanted.notes());
        }
    }
}

void test_a_cancelled_job() {
    TextFile file(sample(20000));
    Dump dump(file.path());
    Job job;
    std::thread other([&] { job.cancel(); });
    bool cancelled = false;
    try {
        for (;;) {
            Dump again(file.path());
            again.read({Dump::graph, true, true}, job, {4, 1000});
        }
    } catch (const Cancelled &) {
        cancelled = true;
    }
    other.join();
    CHECK(cancelled);
}

void test_a_dump_beside_itself() {
    TextFile file(sample(500));
    Job job;
    Dump first(file.path()), second(file.path());
    first.read({Dump::objects, false, false}, job);
    second.read({Dump::objects, false, false}, job);
    Comparison comparison({&first, &second, &first}, job);
    uint64_t before = 0;
    for (const Comparison::Row &row : comparison.rows()) {
        before += row.figures[Comparison::before].count;
        CHECK_EQUAL(row.figures[Comparison::born].count, 0);
        CHECK_EQUAL(row.figures[Comparison::gone].count, 0);
        CHECK_EQUAL(row.figures[Comparison::before].bytes, row.figures[Comparison::after].bytes);
    }
    CHECK_EQUAL(before, 559);
}

void test_a_line_that_is_too_long() {
    TextFile file(root_line({0}) + std::string(5000, 'x') + "\n" + object_line(0, {}, 40) + std::string(5000, 'y'));
    Job job;
    File plain(file.path(), job);
    std::unique_ptr<Source> source = open_source(plain);
    Windows windows(*source, 100, 1000);
    Window window;
    std::string whole;
    int overlong = 0;
    while (windows.next(window)) {
        whole.append(window.bytes.data(), window.size);
        overlong += window.overlong;
    }
    CHECK_EQUAL(overlong, 2);
    CHECK(whole == root_line({0}) + object_line(0, {}, 40));
}

const check_test TESTS[] = {{"threads and windows", test_threads_and_windows},
                            {"a cancelled job", test_a_cancelled_job},
                            {"a dump beside itself", test_a_dump_beside_itself},
                            {"a line that is too long", test_a_line_that_is_too_long}};

} // namespace

CHECK_MAIN(TESTS)
