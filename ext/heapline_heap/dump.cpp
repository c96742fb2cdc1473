/* SPDX-License-Identifier: MIT */
#include "dump.hpp"

#include <sched.h>

#include <algorithm>

#include "scan.hpp"
#include "source.hpp"

namespace heapline {

namespace {

/* More do not help: one of them unpacks, and all wait for the memory. */
const unsigned THREADS_MAX = 16;
/* Of the lines that heapline adds to dumps. */
const uint64_t VERSION = 1;

unsigned processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set)) return 1;
    return std::min(static_cast<unsigned>(CPU_COUNT(&set)), THREADS_MAX);
}

} // namespace

void Dump::read(Wanted wanted, const Job &job, const Manner &manner) {
    bool want_graph = wanted.depth > depth(), want_strings = wanted.strings && !duplicates_;
    bool want_notes = wanted.notes && !notes_;
    if (survey_ && !want_graph && !want_strings && !want_notes) return;
    File file(path_, job);
    if (survey_ && file.identity().empty())
        throw Failure(path_ + " can only be read once: say first what will be asked of it");
    if (survey_ && file.identity() != identity_) throw Failure(path_ + " has changed since it was first read");
    bytes_read_ = 0;
    bytes_total_ = file.total();
    std::unique_ptr<Survey> survey(survey_ ? nullptr : new Survey);
    std::unique_ptr<Graph> graph(want_graph ? new Graph(manner.in_memory, manner.room) : nullptr);
    std::unique_ptr<Duplicates> duplicates(want_strings ? new Duplicates : nullptr);
    std::unique_ptr<std::string> notes(want_notes ? new std::string : nullptr);
    Findings findings = {&vocabulary_,     &classes_,   survey.get(), graph.get(), wanted.depth == Dump::graph,
                         duplicates.get(), notes.get(), &bytes_read_};
    Scan scan(file, findings, job, manner.window);
    scan.run(manner.threads ? manner.threads : processors());
    std::vector<std::string> problems = scan.problems();
    if (survey && survey->version > VERSION)
        throw Failure(path_ + " is of version " + std::to_string(survey->version) +
                      ", and this heapline reads version " + std::to_string(VERSION) + ": take a newer one");
    bool of_code = notes && survey && survey->begun; /* what `heapline code` saved has no objects */
    if (survey && !survey->all.count && !of_code)
        throw Failure(path_ + " is no heap dump: it has no line of ObjectSpace.dump_all" +
                      (problems.empty() ? "" : " (" + problems.back() + ")"));
    if (graph) {
        size_t repeated = graph->link(vocabulary_, job);
        if (repeated) problems.push_back(std::to_string(repeated) + " objects are listed twice; the first counts");
        depth_ = wanted.depth;
        graph_ = std::move(graph);
    }
    if (survey) survey_ = std::move(survey);
    if (survey_->begun && !survey_->ended && problems.empty())
        problems.push_back("its last line is missing: it was cut");
    if (duplicates) duplicates_ = std::move(duplicates);
    if (notes) notes_ = std::move(notes);
    if (problems.size() >= problems_.size()) problems_ = std::move(problems);
    identity_ = file.identity();
}

void Dump::dominate(const Job &job) {
    if (!dominators_) dominators_ = std::make_unique<Dominators>(*graph_, job);
}

const Search &Dump::search(const Job &job) {
    if (!search_) search_ = std::make_unique<Search>(*graph_, job);
    return *search_;
}

uint64_t Dump::class_address(uint32_t node) const {
    const Node &one = graph_->node(node);
    const uint32_t class_node = graph_->class_of(node);
    if (class_node != NOBODY) return graph_->node(class_node).address;
    return one.flags & Node::HAS_CLASS ? Classes::ELSEWHERE : 0;
}

std::string Dump::label(uint32_t node) const {
    if (!graph_->is_object(node)) return graph_->root_name(node);
    return classes_.label(graph_->node(node).kind, class_address(node), vocabulary_);
}

Place Dump::definition(uint32_t node) const {
    const Node &one = graph_->node(node);
    const Class *itself = classes_.find(one.address);
    return itself ? itself->definition : classes_.definition(one.kind, class_address(node), vocabulary_);
}

const Dump::Groups &Dump::groups(const Job &job) {
    if (groups_) return *groups_;
    std::unique_ptr<Groups> made(new Groups{{}, Shelf<uint32_t>(graph_->store())});
    std::unordered_map<Survey::ClassKey, uint32_t, Survey::ClassHash> known;
    std::unordered_map<std::string, uint32_t> numbers;
    for (uint32_t node = 0; node < graph_->objects(); node++) {
        job.check(node);
        graph_->store()->trim();
        auto [found, fresh] = known.try_emplace({class_address(node), graph_->node(node).kind}, 0);
        if (fresh) {
            auto number = numbers.try_emplace(label(node), static_cast<uint32_t>(made->names.size()));
            if (number.second) made->names.push_back(number.first->first);
            found->second = number.first->second;
        }
        made->of.push_back(found->second);
    }
    made->of.finish();
    groups_ = std::move(made);
    return *groups_;
}

std::string Dump::edge_name(uint32_t from, uint32_t to) const {
    uint32_t word = graph_->edge_name(from, to);
    if (word) return vocabulary_.text(word);
    if (!graph_->is_object(from) || !graph_->is_object(to)) return "";
    const Node &source = graph_->node(from);
    if (graph_->class_of(from) == to) return "class";
    const Class *one = classes_.find(source.address);
    return one && one->superclass && one->superclass == graph_->node(to).address ? "superclass" : "";
}

} // namespace heapline
