/* SPDX-License-Identifier: MIT */
/* Dominators and shortest paths of random graphs beside what a slow way says. */
#include "dominators.hpp"

#include <algorithm>
#include <random>

#include "check.h"
#include "text_dump.hpp"

using namespace heapline;

namespace {

struct RandomGraph {
    std::vector<std::vector<uint32_t>> edges;
    std::vector<uint32_t> roots;

    RandomGraph(unsigned seed, uint32_t nodes, uint32_t degree) : edges(nodes) {
        std::mt19937 random(seed);
        for (auto &to : edges)
            for (uint32_t count = random() % (degree + 1); count; count--) to.push_back(random() % nodes);
        for (uint32_t count = 1 + random() % 3; count; count--) roots.push_back(random() % nodes);
    }

    std::string text() const {
        std::string lines = root_line(roots);
        for (uint32_t node = 0; node < edges.size(); node++) lines += object_line(node, edges[node], size(node));
        return lines;
    }

    static uint64_t size(uint32_t node) {
        return 40 + node % 7 * 8;
    }

    /* What can be reached when `without` is not there. */
    std::vector<bool> reached(uint32_t without = NOBODY) const {
        std::vector<bool> seen(edges.size());
        std::vector<uint32_t> todo(roots);
        while (!todo.empty()) {
            uint32_t node = todo.back();
            todo.pop_back();
            if (node == without || seen[node]) continue;
            seen[node] = true;
            todo.insert(todo.end(), edges[node].begin(), edges[node].end());
        }
        return seen;
    }
};

/* A dump of this text that was read, with its dominators. */
struct Dominated {
    TextFile file;
    Dump dump;
    Job job;

    explicit Dominated(const std::string &text, const Dump::Manner &manner = Dump::Manner())
        : file(text), dump(file.path()) {
        dump.read({Dump::graph, false, false}, job, manner);
        dump.dominate(job);
    }
};

const char FIELDS[] = "\"IMEMO\", \"imemo_type\":\"fields\"";

/* Every fifth node becomes a fields object, which leads to no other one. */
std::string with_fields(RandomGraph &graph) {
    std::string lines = root_line(graph.roots);
    for (uint32_t node = 0; node < graph.edges.size(); node++) {
        std::vector<uint32_t> &to = graph.edges[node];
        if (node % 5 == 0)
            to.erase(std::remove_if(to.begin(), to.end(), [](uint32_t n) { return n % 5 == 0; }), to.end());
        std::string line = object_line(node, to, graph.size(node));
        if (node % 5 == 0) line.replace(line.find("\"OBJECT\""), 8, FIELDS);
        lines += line;
    }
    return lines;
}

/* fields: what they refer to their owners have, and retain as before. */
void check_retained(RandomGraph graph, size_t in_memory, size_t room, bool fields) {
    Dominated dominated(fields ? with_fields(graph) : graph.text(), {1, 256, in_memory, room});
    Dump &dump = dominated.dump;
    const Job &job = dominated.job;
    std::vector<bool> reached = graph.reached();
    for (uint32_t node = 0; node < graph.edges.size(); node++) {
        uint32_t number = dump.nodes()->find(address_of(node));
        CHECK_EQUAL(dump.dominators()->reached(number), reached[node]);
        CHECK_EQUAL(!dump.search(job).path(number).empty(), reached[node]);
        if (!reached[node]) continue;
        std::vector<bool> without = graph.reached(node);
        uint64_t retained = 0;
        for (uint32_t other = 0; other < graph.edges.size(); other++)
            if (reached[other] && !without[other] && !(fields && node % 5 == 0 && other != node))
                retained += graph.size(other);
        CHECK_EQUAL(dump.dominators()->retained_bytes(number), retained);
    }
}

void test_random_graphs() {
    for (unsigned seed = 0; seed < 60; seed++)
        for (auto [in_memory, room] : {std::pair(Store::IN_MEMORY, Store::ROOM), {0, Store::ROOM}, {0, 0}})
            for (bool fields : {false, true})
                check_retained(RandomGraph(seed, 5 + seed * 2, 1 + seed % 4), in_memory, room, fields);
}

/* A dominator tree as deep as the list is long, and one group in which all lie within each other. */
void test_a_long_chain() {
    const uint32_t length = 200000;
    std::string text = root_line({0});
    for (uint32_t i = 0; i < length; i++) text += object_line(i, {i + 1}, 40);
    Dominated dominated(text);
    Dump &dump = dominated.dump;
    const Job &job = dominated.job;
    CHECK_EQUAL(dump.dominators()->retained_count(0), length);
    const Dump::Groups &groups = dump.groups(job);
    std::vector<Figures> figures = dump.dominators()->by_group(groups.of, groups.names.size(), job);
    CHECK_EQUAL(figures.size(), 1);
    CHECK_EQUAL(figures[0].bytes, uint64_t{length} * 40);
    CHECK_EQUAL(dump.search(job).path(length - 1).size(), length + 1);
}

/* A long list whose end leads to as many objects, which the root holds, too: a step for each pair would take minutes.
 */
void test_what_hangs_at_the_end_of_a_list() {
    const uint32_t length = 400000;
    std::vector<uint32_t> held(length), all(length + 1);
    for (uint32_t i = 0; i < length; i++) held[i] = length + i;
    std::copy(held.begin(), held.end(), all.begin() + 1);
    std::string text = root_line(all);
    for (uint32_t i = 0; i < length; i++)
        text += object_line(i, i + 1 < length ? std::vector<uint32_t>{i + 1} : held, 40);
    for (uint32_t i = 0; i < length; i++) text += object_line(length + i, {}, 40);
    const Dominated dominated(text);
    CHECK_EQUAL(dominated.dump.dominators()->retained_count(0), length);
    CHECK_EQUAL(dominated.dump.dominators()->retained_count(length), 1);
}

const check_test TESTS[] = {{"random graphs", test_random_graphs},
                            {"a long chain", test_a_long_chain},
                            {"what hangs at the end of a list", test_what_hangs_at_the_end_of_a_list}};

} // namespace

CHECK_MAIN(TESTS)
