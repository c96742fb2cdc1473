/* SPDX-License-Identifier: MIT */
/* A long computation on an object of Ruby's: without the GVL, telling how far it is, and raising what went wrong. */
#ifndef HEAPLINE_HEAP_COMPUTING_HPP
#define HEAPLINE_HEAP_COMPUTING_HPP

#include <string>

#include "raising.hpp"
#include "waiting.hpp"

namespace heapline {

/* What belongs to an object that is computed on. */
struct Busy {
    bool busy = false; /* is a thread without the GVL at work on it? */
    std::string failure;
};

/* Runs `body(job)` on what belongs to `self`. Where the method was given a block it is called with what `position`
 * returns: an Array of two, how much is done and how much there is in all or nil. no_memory: what to say of it. */
template <typename Position, typename Body>
void compute(VALUE self, Busy &busy, const char *no_memory, const Position &position, const Body &body) {
    int interrupted = 0;
    bool out_of_memory = false, yields = rb_block_given_p() != 0, told = false;
    auto tell = [&] {
        if (!yields) return;
        told = true;
        rb_yield_splat(position());
    };
    busy.busy = true;
    {
        Outcome outcome;
        try {
            outcome = wait_for(body, tell);
        } catch (const std::bad_alloc &) {
            outcome.no_memory = true;
        }
        interrupted = outcome.interrupted;
        out_of_memory = outcome.no_memory;
        busy.failure.swap(outcome.failure);
    }
    busy.busy = false;
    RB_GC_GUARD(self);
    if (interrupted) rb_jump_tag(interrupted);
    if (out_of_memory) raise_failure(no_memory);
    if (!busy.failure.empty()) raise_failure(busy.failure.c_str());
    if (told) tell();
}

} // namespace heapline

#endif
