/* SPDX-License-Identifier: MIT */
/* Heapline::Native::Drain: the recording of one process, for Ruby. What takes time runs without the GVL. */
#include "drain_binding.hpp"

#include <ruby/thread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>

#include "drain.hpp"

namespace heapline {
namespace capture {

namespace {

using Clock = std::chrono::steady_clock;

const useconds_t NAP_US = 2000;
const uint64_t FEW = 2000; /* events of a pass; with more, the next one comes at once */
const auto SAMPLE_EVERY = std::chrono::milliseconds(20);

VALUE error_class;

/* What stays where Ruby may raise. */
struct Owner {
    std::unique_ptr<Drain> drain;
    bool busy = false, finished = false;
    Clock::time_point sampled;
    std::string failure;
    /* Arguments of what runs without the GVL, and its result. */
    double seconds = 0;
    std::string ending;
    uint64_t events = 0;
};

void owner_free(void *owner) {
    delete static_cast<Owner *>(owner);
}

const rb_data_type_t owner_type = {"Heapline::Native::Drain",
                                   {nullptr, owner_free, nullptr, nullptr, {}},
                                   nullptr,
                                   nullptr,
                                   RUBY_TYPED_FREE_IMMEDIATELY};

VALUE allocate(VALUE klass) {
    VALUE self = TypedData_Wrap_Struct(klass, &owner_type, nullptr);
    Owner *owner = new (std::nothrow) Owner;
    if (!owner) rb_memerror();
    DATA_PTR(self) = owner;
    return self;
}

Owner &owner_of(VALUE self) {
    Owner &owner = *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
    if (!owner.drain) rb_raise(rb_eArgError, "the drain was never set up");
    if (owner.busy || owner.finished) rb_raise(rb_eArgError, "the drain is in use, or done");
    return owner;
}

template <typename Body> void guarded(Owner &owner, const Body &body) {
    try {
        body();
    } catch (const std::exception &error) {
        owner.failure = error.what();
    }
}

void raise_failure(const Owner &owner) {
    if (!owner.failure.empty()) rb_raise(error_class, "%s", owner.failure.c_str());
}

std::string bytes(VALUE string) {
    return {RSTRING_PTR(string), static_cast<size_t>(RSTRING_LEN(string))};
}

/* Drain.new(path, fd): path: the ring's; fd: of an empty file, which stays open. Raises Heapline::Error. */
VALUE initialize(VALUE self, VALUE path, VALUE fd) {
    Owner &owner = *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
    if (owner.drain) rb_raise(rb_eArgError, "the drain is set up already");
    FilePathValue(path);
    const int descriptor = NUM2INT(fd);
    guarded(owner, [&] {
        owner.drain = std::make_unique<Drain>(bytes(path), descriptor);
        owner.sampled = Clock::now();
        owner.drain->sample();
    });
    raise_failure(owner);
    return self;
}

void sample_now_and_then(Owner &owner) {
    const auto now = Clock::now();
    if (now - owner.sampled < SAMPLE_EVERY) return;
    owner.sampled = now;
    owner.drain->sample();
}

void *run_without_gvl(void *data) {
    Owner &owner = *static_cast<Owner *>(data);
    guarded(owner, [&] {
        const auto end = Clock::now() + std::chrono::duration<double>(owner.seconds);
        while (!owner.drain->stopped()) {
            const uint64_t events = owner.drain->pass(false);
            owner.events += events;
            sample_now_and_then(owner);
            if (Clock::now() >= end) break;
            if (events < FEW && usleep(NAP_US) && errno == EINTR) break; /* a signal: the process may have ended */
        }
    });
    return nullptr;
}

void *finish_without_gvl(void *data) {
    Owner &owner = *static_cast<Owner *>(data);
    guarded(owner, [&] { owner.drain->finish(owner.ending); });
    return nullptr;
}

void without_gvl(VALUE self, Owner &owner, void *(*body)(void *)) {
    owner.busy = true;
    rb_nogvl(body, &owner, nullptr, nullptr, RB_NOGVL_UBF_ASYNC_SAFE);
    owner.busy = false;
    RB_GC_GUARD(self);
}

/* run(seconds) -> Integer: take over what comes for so long, or until the process ends the recording, or a signal
 * comes; the number of events. */
VALUE run(VALUE self, VALUE seconds) {
    Owner &owner = owner_of(self);
    owner.seconds = NUM2DBL(seconds);
    owner.events = 0;
    without_gvl(self, owner, run_without_gvl);
    raise_failure(owner);
    return ULL2NUM(owner.events);
}

/* finish(ending) -> self: take over what is left, and end the capture. ending: "exit 0", "signal 9", "stopped". */
VALUE finish(VALUE self, VALUE ending) {
    Owner &owner = owner_of(self);
    StringValue(ending);
    guarded(owner, [&] { owner.ending = bytes(ending); });
    without_gvl(self, owner, finish_without_gvl);
    owner.finished = true;
    raise_failure(owner);
    return self;
}

/* state -> :recording, :stopped or :execed */
VALUE state(VALUE self) {
    switch (owner_of(self).drain->ring().header().state) {
    case HL_RING_STOPPED:
        return ID2SYM(rb_intern("stopped"));
    case HL_RING_EXECED:
        return ID2SYM(rb_intern("execed"));
    default:
        return ID2SYM(rb_intern("recording"));
    }
}

void put(VALUE hash, const char *key, uint64_t value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), ULL2NUM(value));
}

/* figures -> Hash: events and bytes of the capture; events that were lost because the ring was full, or (dropped)
 * because they could not be written, with the errno; nanoseconds that the recording took, and that the program waited;
 * stacks that found no room; after how many nanoseconds Ruby objects were not recorded any more, 0: they were. */
VALUE figures(VALUE self) {
    const Owner &owner = *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
    if (!owner.drain) rb_raise(rb_eArgError, "the drain was never set up");
    const Writer &writer = owner.drain->writer();
    const hl_ring_header &header = owner.drain->ring().header();
    VALUE hash = rb_hash_new();
    put(hash, "pid", header.pid);
    put(hash, "events", writer.events());
    put(hash, "bytes", writer.bytes());
    put(hash, "lost", owner.drain->lost());
    put(hash, "dropped", writer.dropped());
    put(hash, "errno", static_cast<uint64_t>(writer.reason()));
    put(hash, "elapsed_ns", owner.drain->elapsed_ns());
    put(hash, "waited_ns", header.waited_ns);
    put(hash, "stacks_refused", header.stacks_refused);
    put(hash, "objects_until_ns", owner.drain->objects_until_ns());
    return hash;
}

/* Drain.asked_by(path) -> Integer: the process that this ring was made for, 0 where it is for any; nil where the file
 * is no ring (yet). */
VALUE asked_by(VALUE self, VALUE path) {
    (void)self;
    FilePathValue(path);
    VALUE result = Qnil;
    try {
        const Ring ring(bytes(path));
        result = UINT2NUM(ring.header().asked_by);
    } catch (const std::exception &) {
        return Qnil;
    }
    return result;
}

} // namespace

void define_drain(VALUE native, VALUE error) {
    error_class = error;
    VALUE drain = rb_define_class_under(native, "Drain", rb_cObject);
    rb_define_alloc_func(drain, allocate);
    rb_define_method(drain, "initialize", RUBY_METHOD_FUNC(initialize), 2);
    rb_define_method(drain, "run", RUBY_METHOD_FUNC(run), 1);
    rb_define_method(drain, "finish", RUBY_METHOD_FUNC(finish), 1);
    rb_define_method(drain, "state", RUBY_METHOD_FUNC(state), 0);
    rb_define_method(drain, "figures", RUBY_METHOD_FUNC(figures), 0);
    rb_define_singleton_method(drain, "asked_by", RUBY_METHOD_FUNC(asked_by), 1);
}

} // namespace capture
} // namespace heapline
