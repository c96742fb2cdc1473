/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::HeapDump. Two rules keep C++ and Ruby apart:
 *
 * B1: no C++ exception reaches a frame of Ruby's: what may throw runs in `guarded`, which raises when all is unwound.
 * B2: no exception of Ruby's passes a frame that owns anything: while Ruby objects are made, what they are made of is
 *     owned by the HeapDump (`scratch`) or lies still in the index.
 */
#ifndef HEAPLINE_HEAP_BINDING_HPP
#define HEAPLINE_HEAP_BINDING_HPP

#include <ruby.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "dump.hpp"
#include "source.hpp"

namespace heapline {

/* What belongs to one HeapDump. */
struct Owner {
    std::unique_ptr<Dump> dump;
    bool busy = false; /* is a thread without the GVL at work on it? */

    /* Results on their way to Ruby. */
    struct {
        std::vector<uint32_t> nodes;
        std::vector<std::pair<uint32_t, uint32_t>> edges; /* from, to */
        std::vector<std::pair<std::string, Figures>> groups;
        std::vector<Duplicates::Value> values;
        std::vector<std::string> labels;
        std::unique_ptr<Comparison> comparison;
        std::string text;
    } scratch;
};

/* The dump of a HeapDump that was read; raises where it was not, or not to this depth. */
Owner &owner_at(VALUE self, Dump::Depth depth);

extern VALUE error_class; /* Heapline::Error */

[[noreturn]] void raise_failure(const char *message);

/* Runs what may throw; raises what it threw as an exception of Ruby's. It must own nothing when it calls Ruby. */
template <typename Body> void guarded(const Body &body) {
    char message[400] = "";
    bool no_memory = false;
    try {
        body();
    } catch (const std::bad_alloc &) {
        no_memory = true;
    } catch (const std::exception &error) {
        snprintf(message, sizeof(message), "%s", error.what()[0] ? error.what() : "unknown failure");
    }
    if (no_memory) rb_memerror();
    if (message[0]) raise_failure(message);
}

VALUE text(const std::string &string); /* nil where it is empty */

void define_reading(VALUE dump); /* read, and what a survey tells */
void define_graph(VALUE dump);   /* objects, references, paths */
void define_holders(VALUE dump); /* dominators */
void define_comparison(VALUE dump);

VALUE object_row(Owner &owner, uint32_t node);

} // namespace heapline

#endif
