/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the reader of captures and what is made of it. The first byte says how the rest is meant: as a
 * file (0), or as payloads whose heads are made to fit, since otherwise no check would ever hold.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "../../ext/heapline_capture/about.hpp"
#include "../../ext/heapline_capture/analysis.hpp"
#include "../../ext/heapline_capture/block.hpp"
#include "../../ext/heapline_capture/cells.hpp"
#include "../../ext/heapline_capture/collections.hpp"
#include "../../ext/heapline_capture/columns.hpp"
#include "../../ext/heapline_capture/event.hpp"
#include "../../ext/heapline_capture/lifespans.hpp"
#include "../../ext/heapline_capture/moments.hpp"
#include "../../ext/heapline_capture/names.hpp"
#include "../../ext/heapline_capture/plan.hpp"
#include "../../ext/heapline_capture/planning.hpp"
#include "../../ext/heapline_capture/reader.hpp"
#include "../../ext/heapline_capture/shown.hpp"
#include "../../ext/heapline_capture/sites.hpp"
#include "../../ext/heapline_capture/timeline.hpp"
#include "../../ext/heapline_capture/tree.hpp"

using namespace heapline::capture;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Of [section, events in it, two bytes of length, payload], again and again, behind a header that holds. */
static std::string file_of(std::string_view parts) {
    std::string file(PREAMBLE, PREAMBLE_SIZE);
    auto add = [&file](Section section, uint32_t count, std::string_view payload) {
        Head head;
        head.section = section;
        head.count = count;
        std::string stored = pack(head, payload), bytes(HEAD_SIZE, '\0');
        put_head(head, &bytes[0]);
        file += bytes + stored;
    };
    add(Section::header, 0, packed(Header()));
    while (parts.size() >= 4) {
        auto byte = [&parts](size_t at) { return static_cast<uint8_t>(parts[at]); };
        size_t length = std::min<size_t>(byte(2) | size_t{byte(3)} << 8, parts.size() - 4);
        add(static_cast<Section>(byte(0)), byte(1), parts.substr(4, length));
        parts.remove_prefix(4 + length);
    }
    return file;
}

/* What an analysis says must agree with itself whatever it was read from. */
static void check(Reader &reader, const Query &query) {
    Analysis analysis(reader, query, heapline::Job());
    Shown shown(reader.names());
    if (reader.names().frames() > 1) shown.name(1, {1, 1 << 20}); /* one is put into the other */
    Sums sums;
    for (const Analysis::Context &context : analysis.contexts()) sums.add(context.sums);
    for (Metric metric : {Metric::allocated, Metric::peak, Metric::live, Metric::temporary}) {
        const Figures &wanted = of(analysis.sums(), metric);
        if (metric != Metric::temporary && of(sums, metric).count != wanted.count) std::abort();
        if (of(sums, metric).bytes != wanted.bytes) std::abort();
        if (Tree(reader.names(), shown, analysis.contexts(), metric, false).nodes()[0].total.bytes != wanted.bytes)
            std::abort();
        if (Tree(reader.names(), shown, analysis.contexts(), metric, true).nodes()[0].total.bytes != wanted.bytes)
            std::abort();
    }
    uint64_t bytes = 0;
    for (const Site &site : sites(reader.names(), shown, analysis.contexts())) bytes += site.sums.allocated.bytes;
    if (bytes != analysis.sums().allocated.bytes) std::abort();
    if (analysis.timeline().spans().size() > Timeline::MOST) std::abort();
    Moments moments(analysis);
    Analysis(reader, query, heapline::Job(), &moments);
    Cells cells(std::vector<uint32_t>(analysis.contexts().size()), analysis, moments.all(), 16);
    Analysis(reader, query, heapline::Job(), &cells);
    std::string packed = cells.bytes();
    uint64_t told = 0;
    for (Bytes rest(packed); !rest.empty(); told += rest.varint())
        for (int i = 0; i < 4; i++) rest.varint();
    if (told != analysis.sums().allocated.bytes) std::abort();
}

/* The plan of its replay has what it says. */
static void plan(Reader &reader) {
    static int fd = memfd_create("plan", 0);
    Plan plan;
    std::atomic<uint64_t> done{0};
    make_plan(reader, plan, heapline::Job(), done);
    const hl_plan_header &header = plan.header();
    if (header.allocations > header.calls || header.end_live_bytes > header.peak_live_bytes) std::abort();
    if (!header.calls) return;
    if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)) std::abort();
    plan.write(fd);
    if (lseek(fd, 0, SEEK_CUR) != static_cast<off_t>(header.size)) std::abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static int fd = memfd_create("capture", 0);
    if (!size) return 0;
    std::string_view rest(reinterpret_cast<const char *>(data) + 1, size - 1);
    std::string file = data[0] ? file_of(rest) : std::string(rest);
    if (ftruncate(fd, 0) || pwrite(fd, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size())) std::abort();
    try {
        Reader reader("/proc/self/fd/" + std::to_string(fd));
        Query all, some;
        check(reader, all);
        some.from_ns = 1000;
        some.to_ns = 1u << 30;
        some.threads = {false, true};
        some.lifespan = true;
        some.longest = 1;
        some.mappings = data[0] & 1;
        check(reader, some);
        plan(reader);
    } catch (const heapline::Failure &) {
        return 0;
    }
    return 0;
}
