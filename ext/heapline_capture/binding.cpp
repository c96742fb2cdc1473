/* SPDX-License-Identifier: MIT */
#include "binding.hpp"

#include "drain_binding.hpp"
#include "plan_binding.hpp"

namespace heapline {
namespace capture {

namespace {

void owner_free(void *owner) {
    delete static_cast<Owner *>(owner);
}

const rb_data_type_t owner_type = {"Heapline::Native::Capture",
                                   {nullptr, owner_free, nullptr, nullptr, {}},
                                   nullptr,
                                   nullptr,
                                   RUBY_TYPED_FREE_IMMEDIATELY};

Owner &owner_at(VALUE self) {
    return *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
}

VALUE allocate(VALUE klass) {
    VALUE self = TypedData_Wrap_Struct(klass, &owner_type, nullptr);
    Owner *owner = nullptr;
    guarded([&] { owner = new Owner; });
    DATA_PTR(self) = owner;
    return self;
}

/* Capture.new(path): finds its blocks and reads its names. */
VALUE initialize(VALUE self, VALUE path) {
    Owner &owner = owner_at(self);
    if (owner.reader) rb_raise(rb_eArgError, "the capture is set up already");
    FilePathValue(path);
    const char *bytes = StringValueCStr(path);
    guarded([&] {
        auto reader = std::make_unique<Reader>(bytes);
        owner.shown = std::make_unique<Shown>(reader->names());
        owner.reader = std::move(reader);
    });
    return self;
}

} // namespace

Owner &owner_of(VALUE self) {
    Owner &owner = owner_at(self);
    if (!owner.reader) rb_raise(rb_eArgError, "the capture was never set up");
    if (owner.work.busy) rb_raise(error_class, "the capture is being read by another thread");
    return owner;
}

Owner &analysed(VALUE self) {
    Owner &owner = owner_of(self);
    if (!owner.analysis) rb_raise(rb_eArgError, "the capture was not analysed yet");
    return owner;
}

VALUE push(VALUE row, const Figures &figures) {
    rb_ary_push(row, ULL2NUM(figures.count));
    rb_ary_push(row, ULL2NUM(figures.bytes));
    return row;
}

VALUE push(VALUE row, const Sums &sums) {
    for (const Figures *figures : {&sums.allocated, &sums.peak, &sums.live, &sums.temporary, &sums.freed})
        push(row, *figures);
    return row;
}

} // namespace capture
} // namespace heapline

#include "drain_binding.hpp"
#include "plan_binding.hpp"

extern "C" {
RUBY_FUNC_EXPORTED void Init_capture(void);
}

void Init_capture(void) {
    using namespace heapline::capture;
    VALUE native = rb_define_module_under(heapline::begin_raising(), "Native");
    VALUE capture = rb_define_class_under(native, "Capture", rb_cObject);
    rb_define_alloc_func(capture, allocate);
    rb_define_method(capture, "initialize", RUBY_METHOD_FUNC(initialize), 1);
    define_about(capture);
    define_analysis(capture);
    define_paths(capture);
    define_cells(capture);
    define_plan(native);
    define_drain(native, heapline::error_class);
}
