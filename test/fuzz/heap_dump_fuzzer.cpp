/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the reader of heap dumps: any bytes as a dump, plain or packed, in windows that cut lines; then
 * everything that can be asked of it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "../../ext/heapline_heap/classes.hpp"
#include "../../ext/heapline_heap/comparison.hpp"
#include "../../ext/heapline_heap/dominators.hpp"
#include "../../ext/heapline_heap/dump.hpp"
#include "../../ext/heapline_heap/duplicates.hpp"
#include "../../ext/heapline_heap/edges.hpp"
#include "../../ext/heapline_heap/graph.hpp"
#include "../../ext/heapline_heap/line.hpp"
#include "../../ext/heapline_heap/scan.hpp"
#include "../../ext/heapline_heap/search.hpp"
#include "../../ext/heapline_heap/source.hpp"
#include "../../ext/heapline_heap/spool.hpp"
#include "../../ext/heapline_heap/store.hpp"
#include "../../ext/heapline_heap/survey.hpp"
#include "../../ext/heapline_heap/vocabulary.hpp"
#include "../../ext/heapline_heap/windows.hpp"

using namespace heapline;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* What a dump says of itself must hold whatever it was read from. */
static void check(Dump &dump) {
    Job job;
    dump.dominate(job);
    const Dump::Groups &groups = dump.groups(job);
    const Dominators &tree = *dump.dominators();
    uint64_t count = 0;
    for (const Figures &figures : tree.by_group(groups.of, groups.names.size(), job)) count += figures.count;
    if (count != tree.reachable().count) std::abort();
    if (tree.retained_bytes(dump.nodes()->top()) != tree.reachable().bytes) std::abort();
    count = 0;
    for (const auto &one : dump.survey().classes) count += one.second.count;
    if (count != dump.survey().all.count || count < dump.nodes()->objects()) std::abort();
    for (uint32_t node = 0; node < dump.nodes()->objects(); node++) {
        std::vector<uint32_t> path = dump.search(job).path(node);
        if (path.empty() == tree.reached(node)) std::abort();
        for (size_t i = 1; i < path.size(); i++) dump.edge_name(path[i - 1], path[i]);
        dump.nodes()->value(node);
    }
    dump.duplicates()->worst(3);
    Comparison comparison({&dump, &dump, &dump}, job);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static int fd = memfd_create("dump", 0);
    if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
    Dump dump("/proc/self/fd/" + std::to_string(fd));
    try {
        dump.read({Dump::graph, true, true}, Job(), {1, 64});
        check(dump);
    } catch (const Failure &) {
        return 0;
    }
    return 0;
}
