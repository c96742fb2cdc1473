/* SPDX-License-Identifier: MIT */
/*
 * One reading of a dump by several threads. Each takes the next window of whole lines, parses it, and hands over what
 * it found in the order of the windows, so that the result does not depend on how many threads there are.
 *
 * S1: what a Findings holds is written by one thread at a time, the one whose window's turn it is.
 * S2: a thread that fails takes no turn; it sets `failed_`, and whoever waits for a turn gives up.
 */
#ifndef HEAPLINE_HEAP_SCAN_HPP
#define HEAPLINE_HEAP_SCAN_HPP

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "classes.hpp"
#include "duplicates.hpp"
#include "graph.hpp"
#include "job.hpp"
#include "line.hpp"
#include "survey.hpp"
#include "vocabulary.hpp"
#include "windows.hpp"

namespace heapline {

/* What a reading is for; nullptr: not for that. */
struct Findings {
    Vocabulary *vocabulary;
    Classes *classes;
    Survey *survey;
    Graph *graph;
    bool edges; /* of the graph: without them it has objects only */
    Duplicates *duplicates;
    std::string *notes; /* the lines of heapline's own that tell of no object: its header, of code, of sites */
    std::atomic<uint64_t> *bytes_read; /* of the file, as far as it was read */
};

class Scan {
  public:
    static const size_t PROBLEMS_MAX = 10; /* damaged lines that are named one by one */

    Scan(File &file, const Findings &findings, const Job &job, size_t window);

    /* Reads all. Throws what a thread threw. */
    void run(unsigned threads);

    /* What could not be read. */
    std::vector<std::string> problems() const;
    /* Lines that were sound. */
    uint64_t sound() const {
        return sound_;
    }

  private:
    struct Worker;

    void work();
    void scan(Worker &worker);
    void take(Worker &worker, const char *text, size_t length);
    void take_object(Worker &worker);
    void hand_over(Worker &worker);
    void hand_over_lines(Worker &worker);
    void fail();

    File &file_;
    Findings findings_;
    const Job &job_;
    std::unique_ptr<Source> source_;
    Windows windows_;

    std::mutex mutex_;
    std::condition_variable turned_;
    uint64_t turn_ = 0;
    std::exception_ptr failed_;

    uint64_t lines_ = 0, sound_ = 0, damaged_ = 0, nothing_ = 0; /* nothing_: bytes since a line that was sound */
    std::vector<std::string> problems_;
    bool cut_ = false;
};

} // namespace heapline

#endif
