/* SPDX-License-Identifier: MIT */
/* What a plan says is what was recorded: it is performed here in whatever order its waits allow. */
#include "../../ext/heapline_capture/plan.hpp"
#include "../../ext/heapline_capture/planning.hpp"
#include "../../ext/heapline_capture/reader.hpp"
#include "../../ext/heapline_capture/writer.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <random>

#include "check.h"

using namespace heapline::capture;

namespace {

std::string bytes_of(Plan &plan) {
    int fd = memfd_create("plan", 0);
    plan.write(fd);
    struct stat status;
    CHECK_EQUAL(fstat(fd, &status), 0);
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    CHECK_EQUAL(pread(fd, &bytes[0], bytes.size(), 0), bytes.size());
    close(fd);
    return bytes;
}

/* Performs a plan, one operation of any thread that can go on after the other. */
class Performance {
  public:
    Performance(std::string file, unsigned seed) : file_(std::move(file)), random_(seed) {
        memcpy(&header, file_.data(), sizeof(header));
        threads_.resize(header.threads);
        std::vector<hl_plan_thread> table(header.threads);
        memcpy(table.data(), file_.data() + header.threads_at, table.size() * sizeof(table[0]));
        epochs_.resize(header.epochs);
        memcpy(epochs_.data(), file_.data() + header.epochs_at, epochs_.size() * sizeof(epochs_[0]));
        for (size_t i = 0; i < table.size(); i++)
            threads_[i].left = Bytes(std::string_view(file_).substr(table[i].at, table[i].length));
        threads_[0].started = true;
    }

    void run() {
        for (;;) {
            std::vector<size_t> able;
            for (size_t i = 0; i < threads_.size(); i++)
                if (can_go_on(threads_[i])) able.push_back(i);
            if (able.empty()) break;
            step(able[random_() % able.size()]);
        }
        for (const Thread &thread : threads_) CHECK(thread.left.empty() && !thread.waits);
    }

    hl_plan_header header;
    uint64_t calls = 0, live = 0, bytes = 0, peak = 0, waits = 0;
    std::map<uint64_t, uint64_t> blocks; /* size by slot */
    std::map<unsigned, uint64_t> alignments;

  private:
    struct Thread {
        Bytes left;
        uint64_t calls = 0, slot = 0, awaited = 0;
        int64_t epoch = -1;
        bool started = false, ended = false;
        bool waits = false;
        uint64_t thread = 0, target = 0; /* what it waits for */
    };

    /* Epochs that every thread has left. */
    int64_t passed() const {
        uint64_t epoch = 0;
        while (epoch < epochs_.size() && !epochs_[epoch].threads) epoch++;
        return static_cast<int64_t>(epoch);
    }

    bool can_go_on(Thread &thread) {
        if (!thread.started || thread.ended) return false;
        if (thread.waits && threads_[thread.thread].awaited < thread.target) return false;
        if (thread.epoch > 1 && passed() < thread.epoch - 1) return false;
        thread.waits = false;
        if (!thread.left.empty()) return true;
        leave(thread);
        thread.ended = true;
        return false;
    }

    void leave(Thread &thread) {
        if (thread.epoch >= 0) epochs_[static_cast<size_t>(thread.epoch)].threads--;
    }

    void step(size_t number) {
        Thread &thread = threads_[number];
        const uint8_t first = thread.left.byte();
        const unsigned op = first & HL_PLAN_OP;
        if (op == HL_PLAN_WAIT) {
            thread.thread = thread.left.varint();
            thread.target = thread.left.varint();
            thread.waits = true;
            waits++;
        } else if (op == HL_PLAN_EPOCH) {
            leave(thread);
            thread.epoch += static_cast<int64_t>(thread.left.varint());
        } else if (op == HL_PLAN_START) {
            threads_[thread.left.varint()].started = true;
        } else {
            call(thread, op);
            if (first & HL_PLAN_AWAITED) thread.awaited = thread.calls;
        }
    }

    void call(Thread &thread, unsigned op) {
        thread.slot += static_cast<uint64_t>(unfold(thread.left.varint()));
        thread.calls++;
        calls++;
        CHECK(thread.slot < header.slots);
        auto found = blocks.find(thread.slot);
        CHECK_EQUAL(found == blocks.end(), op < HL_PLAN_REALLOC);
        if (found != blocks.end()) {
            live -= found->second;
            blocks.erase(found);
        }
        if (op == HL_PLAN_FREE) return;
        const uint64_t size = thread.left.varint();
        if (op == HL_PLAN_ALIGNED) alignments[static_cast<unsigned>(thread.left.varint())]++;
        blocks[thread.slot] = size;
        live += size;
        bytes += size;
        peak = std::max(peak, live);
    }

    std::string file_;
    std::vector<Thread> threads_;
    std::vector<hl_plan_epoch> epochs_;
    std::mt19937 random_;
};

/* Calls at random, and what they amount to. */
struct Scene {
    Plan plan;
    uint64_t calls = 0, live = 0, peak = 0, bytes = 0;
    std::map<uint32_t, uint64_t> blocks;

    void perform(unsigned count, unsigned threads, unsigned turn, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<uint32_t> spare;
        uint32_t thread = 0, next = 1;
        for (unsigned i = 0; i < count; i++) {
            if (i % turn == 0) thread = random() % threads;
            const uint64_t size = random() % 3000;
            if (blocks.size() < 300 || (blocks.size() < 900 && random() % 2)) {
                uint32_t block = spare.empty() ? next++ : spare.back();
                if (!spare.empty()) spare.pop_back();
                plan.allocate(HL_PLAN_MALLOC, thread, block, size, 0, i);
                account(block, size);
            } else {
                auto chosen = std::next(blocks.begin(), random() % blocks.size());
                const uint32_t block = chosen->first;
                if (random() % 5 == 0 && size) {
                    plan.resize(thread, block, size, i);
                    account(block, size);
                } else {
                    plan.free(thread, block, i);
                    live -= chosen->second;
                    blocks.erase(chosen);
                    spare.push_back(block);
                    calls++;
                }
            }
        }
    }

    void account(uint32_t block, uint64_t size) {
        live += size - blocks[block];
        blocks[block] = size;
        bytes += size;
        peak = std::max(peak, live);
        calls++;
    }
};

/* in_order: as it was recorded, however threads come to run. */
void check_scene(unsigned count, unsigned threads, unsigned turn, bool in_order) {
    for (unsigned seed = 1; seed <= 4; seed++) {
        Scene scene;
        scene.perform(count, threads, turn, seed);
        Performance performance(bytes_of(scene.plan), seed + 100);
        performance.run();
        CHECK_EQUAL(performance.calls, scene.calls);
        CHECK_EQUAL(performance.live, scene.live);
        CHECK_EQUAL(performance.bytes, scene.bytes);
        CHECK_EQUAL(performance.blocks.size(), scene.blocks.size());
        if (in_order) CHECK_EQUAL(performance.peak, scene.peak);
        const hl_plan_header &header = performance.header;
        CHECK_EQUAL(header.calls, scene.calls);
        CHECK_EQUAL(header.peak_live_bytes, scene.peak);
        CHECK_EQUAL(header.end_live_bytes, scene.live);
        CHECK_EQUAL(header.bytes_allocated, scene.bytes);
        /* What lies unused with other threads is bounded. */
        CHECK(header.slots <= 900 + 900 / 4 + 1024 + 1);
    }
}

void test_one_thread() {
    check_scene(20000, 1, 1, true);
}

void test_threads_at_random() {
    check_scene(20000, 7, 1, false);
}

void test_threads_by_turns() {
    check_scene(20000, 5, 3000, true);
    check_scene(20000, 5, 30, true);
}

/* Threads that change places all the time allocate at once: then few of them wait. */
void test_threads_at_once() {
    Plan plan;
    for (uint32_t i = 0; i < 20480; i++) plan.allocate(HL_PLAN_MALLOC, i % 2, i + 1, 10, 0, i);
    Performance performance(bytes_of(plan), 1);
    performance.run();
    CHECK_EQUAL(performance.calls, 20480);
    CHECK_EQUAL(performance.waits, 20480 / 1024 * 64);
}

/* One thread allocates, another frees: slots come back. */
void test_a_producer_and_a_consumer() {
    Plan plan;
    for (uint32_t i = 0; i < 50000; i++) {
        plan.allocate(HL_PLAN_MALLOC, 1, 1, 10, 0, i);
        plan.free(2, 1, i);
    }
    Performance performance(bytes_of(plan), 1);
    performance.run();
    CHECK_EQUAL(performance.calls, 100000);
    CHECK(performance.header.slots < 3000);
}

void test_what_is_asked_for() {
    Plan plan;
    plan.allocate(HL_PLAN_CALLOC, 9, 1, 100, 0, 5);
    plan.allocate(HL_PLAN_ALIGNED, 9, 2, 100, 4096, 6);
    plan.allocate(HL_PLAN_ALIGNED, 9, 3, 100, 1, 7);
    plan.resize(9, 1, 0, 8);
    plan.free(9, 77, 9);
    plan.leave_out();
    plan.resize(9, 50, 30, 10);
    Performance performance(bytes_of(plan), 1);
    performance.run();
    CHECK_EQUAL(performance.calls, 5);
    CHECK_EQUAL(performance.live, 230);
    CHECK_EQUAL(performance.header.left_out, 2);
    CHECK_EQUAL(performance.header.threads, 1);
    CHECK_EQUAL(performance.header.recorded_ns, 10);
    CHECK_EQUAL(performance.alignments[12], 1);
    CHECK_EQUAL(performance.alignments[3], 1);
}

void test_a_capture() {
    int fd = memfd_create("capture", 0);
    Writer writer(fd, Header());
    uint32_t thread = writer.thread("worker", 5);
    writer.birth(Kind::malloc, 0x1000, 100, 0, {0, 0, 0, 0});
    writer.birth(Kind::mmap, 0x100000, 1 << 20, 0, {0, 0, 0, 0});
    writer.birth(Kind::posix_memalign, 0x2000, 64, 64, {thread, 0, 0, 20000});
    writer.moved(0x1000, 0x3000, 200, {thread, 0, 0, 30000});
    writer.death(Kind::free, 0x9999, {0, 0, 0, 40000});
    writer.death(Kind::munmap, 0x100000, {0, 0, 0, 40000});
    writer.death(Kind::free, 0x2000, {0, 0, 0, 5000000});
    writer.mark(Kind::thread_end, 0, {thread, 0, 0, 5000000});
    writer.finish(Totals());
    Reader reader("/proc/self/fd/" + std::to_string(fd));
    Plan plan;
    std::atomic<uint64_t> done{0};
    make_plan(reader, plan, heapline::Job(), done);
    CHECK_EQUAL(done.load(), reader.bytes_read());
    Performance performance(bytes_of(plan), 3);
    performance.run();
    CHECK_EQUAL(performance.calls, 4);
    CHECK_EQUAL(performance.live, 200);
    CHECK_EQUAL(performance.header.threads, 2);
    CHECK_EQUAL(performance.header.allocations, 2);
    CHECK_EQUAL(performance.header.peak_live_bytes, 264);
    CHECK_EQUAL(performance.header.left_out, 1);
    CHECK_EQUAL(performance.header.recorded_ns, 5000000);
}

void test_nothing_to_replay() {
    Plan plan;
    bool failed = false;
    try {
        plan.write(-1);
    } catch (const std::runtime_error &) {
        failed = true;
    }
    CHECK(failed);
}

const check_test TESTS[] = {{"one thread", test_one_thread},
                            {"threads at random", test_threads_at_random},
                            {"threads by turns", test_threads_by_turns},
                            {"threads at once", test_threads_at_once},
                            {"a producer and a consumer", test_a_producer_and_a_consumer},
                            {"what is asked for", test_what_is_asked_for},
                            {"a capture", test_a_capture},
                            {"nothing to replay", test_nothing_to_replay}};

} // namespace

CHECK_MAIN(TESTS)
