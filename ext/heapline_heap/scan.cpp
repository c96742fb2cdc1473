/* SPDX-License-Identifier: MIT */
#include "scan.hpp"

#include <cstring>
#include <system_error>
#include <thread>

namespace heapline {

/* A thread, and what it found in its window. */
struct Scan::Worker {
    /* Lines of which there are few are kept as they are until they can be handed over. */
    struct Root {
        std::string name;
        std::vector<uint64_t> references;
    };
    struct ClassLine {
        uint64_t address;
        Class one;
    };
    struct NamesLine {
        uint64_t address;
        std::string root;
        std::vector<std::pair<uint64_t, std::string>> names;
    };

    LineParser parser;
    Line line;
    Window window;
    Vocabulary vocabulary;
    Translation translation;
    Survey survey;
    Harvest harvest;
    std::vector<Root> roots;
    std::vector<ClassLine> classes;
    std::vector<std::pair<uint64_t, Place>> definitions; /* by the class's address */
    std::vector<NamesLine> names;
    std::string notes;
    std::vector<uint64_t> damaged; /* numbers of lines, within the window */
    uint64_t lines, sound;
    bool cut;

    void begin() {
        harvest.clear();
        roots.clear();
        classes.clear();
        definitions.clear();
        names.clear();
        notes.clear();
        damaged.clear();
        lines = sound = 0;
        cut = false;
    }
};

Scan::Scan(File &file, const Findings &findings, const Job &job, size_t window)
    : file_(file), findings_(findings), job_(job), source_(open_source(file)), windows_(*source_, window) {}

void Scan::run(unsigned threads) {
    std::vector<std::thread> all;
    for (unsigned i = 1; i < threads; i++) {
        try {
            all.emplace_back([this] { work(); });
        } catch (const std::system_error &) {
            break; /* with as many as there may be */
        }
    }
    work();
    for (std::thread &thread : all) thread.join();
    if (failed_) std::rethrow_exception(failed_);
}

void Scan::work() {
    try {
        Worker worker;
        while (windows_.next(worker.window)) {
            findings_.bytes_read->store(file_.consumed(), std::memory_order_relaxed);
            scan(worker);
            hand_over(worker);
        }
        std::lock_guard<std::mutex> lock(mutex_);
        worker.translation.learn(worker.vocabulary, *findings_.vocabulary);
        if (findings_.survey) findings_.survey->add(worker.survey, worker.translation);
    } catch (...) {
        fail();
    }
}

void Scan::fail() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failed_) failed_ = std::current_exception();
    turned_.notify_all();
}

void Scan::scan(Worker &worker) {
    worker.begin();
    const char *at = worker.window.bytes.data(), *end = at + worker.window.size;
    while (at < end) {
        const void *found = memchr(at, '\n', static_cast<size_t>(end - at));
        const char *line_end = found ? static_cast<const char *>(found) : end;
        job_.check(worker.lines);
        worker.lines++;
        if (worker.parser.parse(at, static_cast<size_t>(line_end - at), worker.line))
            take(worker, at, static_cast<size_t>(line_end - at));
        else if (line_end != at && line_end == end)
            worker.cut = true;
        else if (line_end != at)
            worker.damaged.push_back(worker.lines);
        at = line_end + 1;
    }
    if (worker.window.overlong) worker.damaged.push_back(++worker.lines);
}

void Scan::take(Worker &worker, const char *text, size_t length) {
    Line &line = worker.line;
    worker.sound++;
    if (findings_.notes && (line.sort == Line::Sort::note || line.sort == Line::Sort::header))
        worker.notes.append(text, length).push_back('\n');
    if (line.sort == Line::Sort::object) {
        take_object(worker);
    } else if (line.sort == Line::Sort::names) {
        if (!findings_.edges) return;
        worker.names.push_back({line.address, std::string(line.root), {}});
        for (const auto &[to, name] : line.edge_names) worker.names.back().names.emplace_back(to, name);
    } else if (line.sort == Line::Sort::definition) {
        if (!line.path.empty())
            worker.definitions.push_back({line.address, {worker.vocabulary.word(line.path), line.lineno, 0}});
    } else {
        if (findings_.survey) worker.survey.other(line);
        if (line.sort == Line::Sort::root && findings_.edges)
            worker.roots.push_back({std::string(line.root), line.references});
    }
}

void Scan::take_object(Worker &worker) {
    Line &line = worker.line;
    Vocabulary &words = worker.vocabulary;
    if (!line.slot_size) line.slot_size = Survey::SLOT;
    if (!line.memsize) line.memsize = line.slot_size;
    if (findings_.duplicates && line.type == "STRING" && line.value.data())
        findings_.duplicates->add(line.value, line.encoding, line.memsize);
    if (!findings_.survey && !findings_.graph) return;
    std::string_view detail = line.type == "STRING" ? line.encoding : line.detail;
    uint32_t kind = words.kind(words.word(line.type), words.word(detail));
    uint32_t place = line.file.empty() ? 0 : words.place({words.word(line.file), line.line, words.word(line.method)});
    if (findings_.survey) worker.survey.object(line, kind, place);
    if (findings_.graph) worker.harvest.add(line, kind, place, findings_.edges);
    if (line.type != "CLASS" && line.type != "MODULE" && line.type != "ICLASS") return;
    bool transparent = line.flags & Line::singleton || line.type == "ICLASS";
    uint32_t name = words.word(line.name), real_name = words.word(line.real_class_name);
    worker.classes.push_back({line.address, {name, real_name, line.superclass, transparent, {}}});
}

void Scan::hand_over(Worker &worker) {
    std::unique_lock<std::mutex> lock(mutex_);
    turned_.wait(lock, [&] { return turn_ == worker.window.number || failed_; });
    if (failed_) throw Cancelled();
    worker.translation.learn(worker.vocabulary, *findings_.vocabulary);
    for (Worker::ClassLine &found : worker.classes) {
        found.one.name = worker.translation.word(found.one.name);
        found.one.real_name = worker.translation.word(found.one.real_name);
        findings_.classes->add(found.address, found.one);
    }
    for (const auto &[address, place] : worker.definitions)
        findings_.classes->define(address, {worker.translation.word(place.file), place.line, 0});
    if (findings_.graph) {
        findings_.graph->add(worker.harvest, worker.translation);
        for (const Worker::Root &root : worker.roots) findings_.graph->add_root(root.name, root.references);
        for (const Worker::NamesLine &line : worker.names)
            for (const auto &[to, name] : line.names)
                findings_.graph->add_name(line.address, line.root, to, name, *findings_.vocabulary);
    }
    if (findings_.notes) findings_.notes->append(worker.notes);
    hand_over_lines(worker);
    turn_++;
    turned_.notify_all();
}

void Scan::hand_over_lines(Worker &worker) {
    for (uint64_t number : worker.damaged) {
        if (damaged_++ >= PROBLEMS_MAX) continue;
        bool overlong = worker.window.overlong && number == worker.lines;
        problems_.push_back("line " + std::to_string(lines_ + number) +
                            (overlong ? ": longer than a line of a heap dump is" : ": not a line of a heap dump"));
    }
    lines_ += worker.lines;
    sound_ += worker.sound;
    nothing_ = worker.sound ? 0 : nothing_ + worker.window.size;
    if (worker.window.endless || nothing_ > Windows::NOTHING_MOST)
        throw Failure(file_.path() + " has " + std::to_string(Windows::NOTHING_MOST >> 20) +
                      " MB without a line of a heap dump");
    cut_ = cut_ || worker.cut;
}

std::vector<std::string> Scan::problems() const {
    std::vector<std::string> all = problems_;
    if (damaged_ > PROBLEMS_MAX) all.push_back(std::to_string(damaged_ - PROBLEMS_MAX) + " more such lines");
    if (!source_->problem().empty())
        all.push_back(source_->problem());
    else if (cut_)
        all.push_back("it ends in the middle of line " + std::to_string(lines_));
    return all;
}

} // namespace heapline
