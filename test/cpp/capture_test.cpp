/* SPDX-License-Identifier: MIT */
/* What was written to a capture comes back, whole, in parts, cut short and damaged. */
#include "../../ext/heapline_capture/reader.hpp"
#include "../../ext/heapline_capture/writer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <random>

#include "check.h"
#include "memory_file.hpp"

using namespace heapline::capture;
using heapline::Failure;

namespace {

Header sample_header() {
    Header header;
    header.pid = 4711;
    header.started_ns = 1700000000000000000u;
    header.started_monotonic_ns = 99;
    header.generation = 7;
    header.ruby = "ruby 3.4.1";
    header.allocator = "glibc 2.41";
    header.command = {"ruby", "", "a b.rb"};
    header.options["native"] = "yes";
    return header;
}

/* Births and ends at random, and what was told. */
class Scene {
  public:
    explicit Scene(unsigned seed) : random_(seed) {}

    /* Names come in between, as they do in a program. */
    void write(Writer &writer, unsigned count, unsigned flush_every) {
        for (unsigned i = 1; i <= count; i++) {
            step(writer);
            if (i % 50 == 0) names(writer);
            if (flush_every && i % flush_every == 0) writer.flush();
        }
    }

    std::vector<Event> events;
    uint32_t nodes = 0, threads = 0, tags = 0, classes = 0;

  private:
    struct Live {
        uint64_t address;
        uint32_t block;
        bool object;
    };

    void names(Writer &writer) {
        std::string text = "f" + std::to_string(nodes % 17) + ".rb";
        uint32_t path = writer.string(text);
        CHECK_EQUAL(path, writer.string(text));
        uint32_t frame = writer.frame({writer.string("m"), path, nodes, 0, nodes * 3});
        uint32_t node = writer.node(nodes ? random_() % nodes : 0, frame);
        CHECK_EQUAL(node, ++nodes);
        if (nodes % 5 == 0) CHECK_EQUAL(writer.thread("worker", 100 + nodes), ++threads);
        if (nodes % 7 == 0) CHECK_EQUAL(writer.tag("t" + std::to_string(nodes)), ++tags);
        if (nodes % 9 == 0) CHECK_EQUAL(writer.klass("C" + std::to_string(nodes), nodes % 32), ++classes);
    }

    Writer::Call call() {
        time_ += random_() % 4 ? 0 : random_() % 100000;
        uint32_t thread = threads ? random_() % (threads + 1) : 0;
        return {thread, nodes ? static_cast<uint32_t>(random_() % (nodes + 1)) : 0,
                tags ? static_cast<uint32_t>(random_() % (tags + 1)) : 0, time_};
    }

    void told(const Writer::Call &call, Kind kind, uint32_t block, uint64_t size, uint64_t alignment,
              uint32_t klass = 0) {
        bool by = kind != Kind::object_freed && kind != Kind::object_resized; /* these are the VM's doing */
        events.push_back({call.time_ns / 10000 * 10000, size, alignment, block, by ? call.stack : 0, call.thread,
                          by ? call.tag : 0, klass, kind});
    }

    void step(Writer &writer) {
        Writer::Call now = call();
        switch (random_() % 8) {
        case 0:
            writer.mark(Kind::gc_start, generation_, now);
            return told(now, Kind::gc_start, 0, generation_++, 0);
        case 1:
            writer.death(Kind::free, 8, now);
            return told(now, Kind::free_older, 0, 0, 0);
        case 2:
        case 3:
            return birth(writer, now);
        case 4:
            return object(writer, now);
        case 5:
            return live_.empty() ? birth(writer, now) : change(writer, now);
        default:
            return live_.empty() ? birth(writer, now) : end(writer, now);
        }
    }

    uint32_t number() {
        if (free_.empty()) return ++highest_;
        uint32_t number = free_.back();
        free_.pop_back();
        return number;
    }

    void birth(Writer &writer, const Writer::Call &now) {
        uint32_t block = number();
        uint64_t address = next_ += 16, size = uint64_t{1} << random_() % 40;
        bool aligned = random_() % 9 == 0;
        Kind kind = aligned ? Kind::posix_memalign : Kind::malloc;
        writer.birth(kind, address, size, aligned ? 4096 : 0, now);
        told(now, kind, block, size, aligned ? 4096 : 0);
        live_.push_back({address, block, false});
    }

    void object(Writer &writer, const Writer::Call &now) {
        uint32_t klass = classes ? static_cast<uint32_t>(random_() % (classes + 1)) : 0, block = number();
        uint64_t address = next_ += 16, bytes = uint64_t{40} << random_() % 5;
        writer.object(address, bytes, klass, now);
        told(now, Kind::object, block, bytes, 0, klass);
        live_.push_back({address, block, true});
    }

    void change(Writer &writer, const Writer::Call &now) {
        Live &live = live_[random_() % live_.size()];
        uint64_t to = random_() % 2 ? live.address : next_ += 16;
        if (live.object)
            writer.object_moved(live.address, to, 80, now);
        else
            writer.moved(live.address, to, 80, now);
        live.address = to;
        told(now, live.object ? Kind::object_resized : Kind::resize, live.block, 80, 0);
    }

    void end(Writer &writer, const Writer::Call &now) {
        std::swap(live_[random_() % live_.size()], live_.back());
        if (live_.back().object)
            writer.object_freed(live_.back().address, now);
        else
            writer.death(Kind::free, live_.back().address, now);
        told(now, live_.back().object ? Kind::object_freed : Kind::free, live_.back().block, 0, 0);
        free_.push_back(live_.back().block);
        live_.pop_back();
    }

    std::mt19937 random_;
    uint64_t time_ = 0, next_ = 4096, generation_ = 0;
    uint32_t highest_ = 0;
    std::vector<Live> live_;
    std::vector<uint32_t> free_;
};

std::vector<Event> all(Reader &reader, size_t most = 1000) {
    std::vector<Event> events, part(most);
    while (size_t count = reader.next(part.data(), most))
        events.insert(events.end(), part.begin(), part.begin() + static_cast<long>(count));
    return events;
}

bool same(const Event &a, const Event &b) {
    return a.kind == b.kind && a.time_ns == b.time_ns && a.size == b.size && a.alignment == b.alignment &&
           a.block == b.block && a.stack == b.stack && a.thread == b.thread && a.tag == b.tag && a.klass == b.klass;
}

/* Are these the first, or the last, of those that were told? */
void check_events(const std::vector<Event> &got, const std::vector<Event> &told, bool last = false) {
    CHECK(got.size() <= told.size());
    size_t offset = last ? told.size() - got.size() : 0, different = 0;
    for (size_t i = 0; i < got.size(); i++) different += !same(got[i], told[offset + i]);
    CHECK_EQUAL(different, 0);
}

void check_about(const Reader &reader) {
    const Header &header = reader.header();
    CHECK_EQUAL(header.pid, 4711);
    CHECK_EQUAL(header.started_ns, 1700000000000000000);
    CHECK_EQUAL(header.started_monotonic_ns, 99);
    CHECK_EQUAL(header.generation, 7);
    CHECK(header.ruby == "ruby 3.4.1" && header.allocator == "glibc 2.41");
    CHECK(header.command == (std::vector<std::string>{"ruby", "", "a b.rb"}));
    CHECK(header.options.at("native") == "yes");
}

void check_names(const Reader &reader, const Scene &scene) {
    const Names &names = reader.names();
    CHECK_EQUAL(names.nodes(), scene.nodes + 1);
    CHECK_EQUAL(names.threads(), scene.threads + 1);
    CHECK_EQUAL(names.tags(), scene.tags + 1);
    for (uint32_t node = 1; node < names.nodes(); node++) {
        const Frame &frame = names.frame(names.node(node).frame);
        CHECK_EQUAL(frame.line, node - 1);
        CHECK(names.string(frame.path) == "f" + std::to_string((node - 1) % 17) + ".rb");
        CHECK(names.string(frame.label) == "m");
        CHECK(names.node(node).parent < node);
    }
    for (uint32_t tag = 1; tag < names.tags(); tag++) CHECK(names.tag(tag) == "t" + std::to_string(tag * 7));
    CHECK_EQUAL(names.libraries().size(), 1);
    CHECK(names.string(names.libraries()[0].path) == "/x/liba.so");
    CHECK(names.string(names.libraries()[0].identity) == "build 12ab");
}

/* A capture that was finished, of `count` events. */
std::string finished(Scene &scene, unsigned count, unsigned flush_every) {
    MemoryFile memory;
    Writer writer(memory.fd(), sample_header());
    scene.write(writer, count, flush_every);
    writer.library(writer.string("/x/liba.so"), "build 12ab");
    writer.sample({5, 1000, 2000, 3});
    writer.sample({6, 1001, 2001, 4});
    Totals totals;
    totals.ending = "exit 3";
    totals.time_ns = 123;
    totals.lost = 2;
    writer.finish(totals);
    CHECK_EQUAL(writer.error(), 0);
    CHECK_EQUAL(writer.events(), count);
    CHECK_EQUAL(writer.bytes(), memory.bytes().size());
    return memory.bytes();
}

void test_round_trip() {
    for (unsigned flush_every : {0u, 1u, 7u, 1000u}) {
        Scene scene(flush_every);
        MemoryFile memory(finished(scene, flush_every == 1 ? 2000 : 200000, flush_every));
        for (bool use_index : {true, false}) {
            Reader reader(memory.path(), use_index);
            check_about(reader);
            check_names(reader, scene);
            CHECK_EQUAL(reader.events(), scene.events.size());
            for (int pass = 0; pass < 2; pass++, reader.rewind()) {
                std::vector<Event> events = all(reader);
                CHECK_EQUAL(events.size(), scene.events.size());
                check_events(events, scene.events);
                CHECK_EQUAL(reader.bytes_read(), reader.bytes_total());
            }
            CHECK(reader.problems().empty());
            CHECK(reader.finished() && reader.totals().ending == "exit 3");
            CHECK_EQUAL(reader.totals().lost, 2);
            CHECK_EQUAL(reader.totals().events, scene.events.size());
            CHECK_EQUAL(reader.samples().size(), 2);
            CHECK_EQUAL(reader.samples()[1].rss, 1001);
            CHECK_EQUAL(reader.samples()[1].generation, 4);
        }
    }
}

void test_a_part() {
    Scene scene(1);
    MemoryFile memory(finished(scene, 20000, 500));
    Reader reader(memory.path());
    for (size_t i = 0; i < scene.events.size(); i += 777) {
        reader.seek(scene.events[i].time_ns);
        std::vector<Event> rest = all(reader);
        CHECK(rest.size() >= scene.events.size() - i);
        CHECK(rest.size() < scene.events.size() - i + 2000);
        check_events(rest, scene.events, true);
    }
}

/* Cut anywhere, it is readable up to the last whole block, and says that it was cut. */
void test_cut_short() {
    Scene scene(2);
    std::string whole = finished(scene, 3000, 100);
    size_t last = 0;
    for (size_t size = 1; size < whole.size(); size += 1 + size / 50) {
        MemoryFile memory(whole.substr(0, size));
        try {
            Reader reader(memory.path());
            std::vector<Event> events = all(reader);
            CHECK_EQUAL(events.size() % 100, 0);
            CHECK(events.size() >= last);
            last = events.size();
            check_events(events, scene.events);
            if (size < whole.size() - FINIS_SIZE) CHECK(!reader.problems().empty());
        } catch (const Failure &) {
            CHECK_EQUAL(last, 0);
        }
    }
    CHECK_EQUAL(last, 3000);
}

/* One block of events is lost with each damage, never more, and it is told. */
void test_damage() {
    Scene scene(3);
    const std::string whole = finished(scene, 3000, 100);
    std::mt19937 random(3);
    for (int i = 0; i < 300; i++) {
        std::string bytes = whole;
        size_t at = random() % bytes.size();
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
        MemoryFile memory(bytes);
        for (bool use_index : {true, false}) {
            try {
                Reader reader(memory.path(), use_index);
                size_t count = all(reader).size();
                CHECK(count == 3000 || count == 2900 || !reader.problems().empty());
                CHECK(count >= 2900 || reader.names().nodes() != scene.nodes + 1u || !reader.problems().empty());
                if (count < 3000) CHECK(!reader.problems().empty());
            } catch (const Failure &) {
                CHECK(at < 400);
            }
        }
    }
}

/* Where the disk is full the events are dropped and counted; when there is room again it goes on. */
void test_a_full_disk() {
    Scene scene(4);
    MemoryFile memory, rest;
    Writer writer(memory.fd(), sample_header());
    scene.write(writer, 1000, 100);
    CHECK_EQUAL(fcntl(memory.fd(), F_ADD_SEALS, F_SEAL_GROW), 0);
    scene.write(writer, 700, 0);
    writer.flush();
    CHECK(writer.error() != 0);
    CHECK_EQUAL(writer.dropped(), 700);
    writer.finish({});
    CHECK(writer.error() != 0);
    Reader reader(memory.path());
    std::vector<Event> events = all(reader);
    CHECK_EQUAL(events.size(), 1000);
    check_events(events, scene.events);
    CHECK(!reader.finished());
}

/* Files may not be longer than this. */
void limit_files(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {bytes, RLIM_INFINITY};
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Several blocks in a row are dropped, the marks of the ones before among them: the mark at last tells of all. */
void test_marks_that_are_dropped() {
    MemoryFile memory;
    Writer writer(memory.fd(), sample_header());
    limit_files(writer.bytes() + 10);
    for (uint64_t round = 1; round <= 3; round++) {
        writer.birth(Kind::malloc, 16 * round, 1, 0, {});
        writer.mark(Kind::lost, 100, {}); /* of the ring */
        writer.flush();
        CHECK_EQUAL(writer.dropped(), round);
    }
    CHECK_EQUAL(writer.events(), 0);
    limit_files(RLIM_INFINITY);
    writer.birth(Kind::malloc, 16 * 4, 2, 0, {});
    Totals totals;
    totals.lost = 300;
    writer.finish(totals);
    CHECK_EQUAL(writer.error(), 0);
    CHECK_EQUAL(writer.reason(), EFBIG);
    CHECK_EQUAL(writer.events(), 2);
    Reader reader(memory.path());
    std::vector<Event> events = all(reader);
    CHECK_EQUAL(events.size(), 2);
    CHECK_EQUAL(events[0].kind, Kind::lost);
    CHECK_EQUAL(events[0].size, 303);
    CHECK_EQUAL(events[1].block, 4);
    CHECK_EQUAL(reader.totals().lost, 303);
}

void test_what_was_dropped_is_told() {
    MemoryFile memory;
    Writer writer(memory.fd(), sample_header());
    writer.birth(Kind::malloc, 16, 1, 0, {});
    limit_files(writer.bytes() + 10);
    writer.flush();
    CHECK_EQUAL(writer.dropped(), 1);
    limit_files(RLIM_INFINITY);
    writer.birth(Kind::malloc, 32, 2, 0, {});
    writer.finish({});
    CHECK_EQUAL(writer.error(), 0);
    Reader reader(memory.path());
    std::vector<Event> events = all(reader);
    CHECK_EQUAL(events.size(), 2);
    CHECK(events[0].kind == Kind::lost && events[0].size == 1);
    CHECK_EQUAL(events[1].block, 2);
    CHECK_EQUAL(reader.totals().lost, 1);
}

void test_what_is_no_capture() {
    for (const char *bytes : {"", "x", "heapline-capture", "heapline-captur", "{}"}) {
        MemoryFile memory(bytes);
        bool failed = false;
        try {
            Reader reader(memory.path());
        } catch (const Failure &) {
            failed = true;
        }
        CHECK(failed);
    }
}

struct Told {
    Kind kind;
    uint32_t block;
    uint64_t size;
};

void check_mappings(const std::vector<Told> &wanted, void (*act)(Writer &)) {
    MemoryFile memory;
    Writer writer(memory.fd(), sample_header());
    act(writer);
    writer.finish({});
    Reader reader(memory.path());
    std::vector<Event> events = all(reader);
    CHECK_EQUAL(events.size(), wanted.size());
    for (size_t i = 0; i < std::min(events.size(), wanted.size()); i++) {
        CHECK_EQUAL(events[i].kind, wanted[i].kind);
        CHECK_EQUAL(events[i].block, wanted[i].block);
        CHECK_EQUAL(events[i].size, wanted[i].size);
    }
}

void test_mappings() {
    check_mappings({{Kind::mmap, 1, 40960}, {Kind::munmap, 1, 0}, {Kind::remains, 1, 8192}, {Kind::remains, 2, 16384}},
                   [](Writer &writer) {
                       writer.mapped(0x10000, 40000, {});
                       writer.unmapped(0x12000, 16384, {});
                       CHECK_EQUAL(writer.live(), 2);
                   });
    check_mappings({{Kind::mmap, 1, 4096},
                    {Kind::mmap, 2, 4096},
                    {Kind::munmap, 1, 0},
                    {Kind::vanish, 2, 0},
                    {Kind::munmap_older, 0, 0}},
                   [](Writer &writer) {
                       writer.mapped(0x10000, 4096, {});
                       writer.mapped(0x12000, 4096, {});
                       writer.unmapped(0x10000, 0x4000, {});
                       writer.unmapped(0x10000, 0x4000, {});
                   });
    check_mappings({{Kind::mmap, 1, 8192}, {Kind::vanish, 1, 0}, {Kind::remains, 1, 4096}, {Kind::mmap, 2, 4096}},
                   [](Writer &writer) {
                       writer.mapped(0x10000, 8192, {});
                       writer.mapped(0x11000, 4096, {});
                   });
    check_mappings(
        {{Kind::mmap, 1, 4096}, {Kind::remap, 1, 12288}, {Kind::munmap, 1, 0}, {Kind::mremap_older, 1, 4096}},
        [](Writer &writer) {
            writer.mapped(0x10000, 4096, {});
            writer.remapped(0x10000, 4096, 0x20000, 12288, {});
            writer.unmapped(0x20000, 12288, {});
            writer.remapped(0x50000, 4096, 0x60000, 4096, {});
        });
}

/* Of a block whose end was not seen, and of calls about what is not known. */
void test_what_was_not_seen() {
    check_mappings({{Kind::malloc, 1, 10},
                    {Kind::vanish, 1, 0},
                    {Kind::calloc, 1, 20},
                    {Kind::realloc_older, 2, 30},
                    {Kind::vanish, 1, 0},
                    {Kind::resize, 2, 40},
                    {Kind::cxx_delete, 2, 0},
                    {Kind::free_older, 0, 0}},
                   [](Writer &writer) {
                       writer.birth(Kind::malloc, 64, 10, 0, {});
                       writer.birth(Kind::calloc, 64, 20, 0, {});
                       writer.moved(128, 256, 30, {});
                       writer.moved(256, 64, 40, {});
                       writer.death(Kind::cxx_delete, 64, {});
                       writer.death(Kind::free, 64, {});
                   });
}

const check_test TESTS[] = {{"round trip", test_round_trip},
                            {"a part", test_a_part},
                            {"cut short", test_cut_short},
                            {"damage", test_damage},
                            {"a full disk", test_a_full_disk},
                            {"marks that are dropped", test_marks_that_are_dropped},
                            {"what was dropped is told", test_what_was_dropped_is_told},
                            {"what is no capture", test_what_is_no_capture},
                            {"mappings", test_mappings},
                            {"what was not seen", test_what_was_not_seen}};

} // namespace

CHECK_MAIN(TESTS)
