/* SPDX-License-Identifier: MIT */
/*
 * One dump with all that is known of it. `read` and `dominate` take long and are called from a thread that touches no
 * Ruby; nothing else may be called meanwhile. The rest answers quickly.
 */
#ifndef HEAPLINE_HEAP_DUMP_HPP
#define HEAPLINE_HEAP_DUMP_HPP

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "classes.hpp"
#include "dominators.hpp"
#include "duplicates.hpp"
#include "graph.hpp"
#include "job.hpp"
#include "search.hpp"
#include "survey.hpp"
#include "vocabulary.hpp"
#include "windows.hpp"

namespace heapline {

class Dump {
  public:
    enum Depth { survey_only, objects, graph };

    explicit Dump(std::string path) : path_(std::move(path)) {}

    /* How it is read. threads: 0 for as many as there are processors; window: bytes that a thread takes at a time;
     * in_memory, room: of the graph, see Store */
    struct Manner {
        unsigned threads = 0;
        size_t window = Windows::SIZE;
        size_t in_memory = Store::IN_MEMORY;
        size_t room = Store::ROOM;
    };

    /* What is to be known. */
    struct Wanted {
        Depth depth = survey_only;
        bool strings = false; /* those that are there many times */
        bool notes = false;
    };

    /* Read the file, unless what is asked for is there. Throws Failure, Cancelled, std::bad_alloc; then all is as
     * before. */
    void read(Wanted wanted, const Job &job) {
        read(wanted, job, Manner());
    }
    void read(Wanted wanted, const Job &job, const Manner &manner);
    void dominate(const Job &job);

    /* Any thread. */
    uint64_t bytes_read() const {
        return bytes_read_.load(std::memory_order_relaxed);
    }
    /* 0: unknown. Any thread. */
    uint64_t bytes_total() const {
        return bytes_total_.load(std::memory_order_relaxed);
    }

    Depth depth() const {
        return graph_ ? depth_ : survey_only;
    }
    const std::vector<std::string> &problems() const {
        return problems_;
    }
    const Vocabulary &vocabulary() const {
        return vocabulary_;
    }
    const Classes &classes() const {
        return classes_;
    }
    bool was_read() const {
        return survey_ != nullptr;
    }
    /* Once it was read. */
    const Survey &survey() const {
        return *survey_;
    }
    /* nullptr: not read. */
    const Duplicates *duplicates() const {
        return duplicates_.get();
    }
    /* heapline's own lines, see Findings; nullptr: not read. */
    const std::string *notes() const {
        return notes_.get();
    }
    Graph *nodes() const {
        return graph_.get();
    }
    const Dominators *dominators() const {
        return dominators_.get();
    }
    /* Made when it is first asked for. */
    const Search &search(const Job &job);

    /* Names of groups of objects (their classes), and each object's. Made when it is first asked for. */
    struct Groups {
        std::vector<std::string> names;
        Shelf<uint32_t> of;
    };
    const Groups &groups(const Job &job);

    /* Where the class of a node, or the node itself where that is a class or module, is defined; file 0: unknown. */
    Place definition(uint32_t node) const;
    /* The name of a node's group, and what leads from one node to another (empty: unknown). */
    std::string label(uint32_t node) const;
    std::string edge_name(uint32_t from, uint32_t to) const;

  private:
    uint64_t class_address(uint32_t node) const;

    const std::string path_;
    std::string identity_;
    std::atomic<uint64_t> bytes_read_{0}, bytes_total_{0};
    std::vector<std::string> problems_;
    Vocabulary vocabulary_;
    Classes classes_;
    std::unique_ptr<Survey> survey_;
    std::unique_ptr<Duplicates> duplicates_;
    std::unique_ptr<std::string> notes_;
    std::unique_ptr<Graph> graph_;
    Depth depth_ = survey_only; /* of graph_ */
    std::unique_ptr<Search> search_;
    std::unique_ptr<Groups> groups_;
    std::unique_ptr<Dominators> dominators_;
};

} // namespace heapline

#endif
