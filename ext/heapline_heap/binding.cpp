/* SPDX-License-Identifier: MIT */
#include "binding.hpp"

namespace heapline {

namespace {

void owner_free(void *owner) {
    delete static_cast<Owner *>(owner);
}

const rb_data_type_t owner_type = {"Heapline::Native::HeapDump",
                                   {nullptr, owner_free, nullptr, nullptr, {}},
                                   nullptr,
                                   nullptr,
                                   RUBY_TYPED_FREE_IMMEDIATELY};

VALUE allocate(VALUE klass) {
    VALUE self = TypedData_Wrap_Struct(klass, &owner_type, nullptr);
    Owner *owner = nullptr;
    guarded([&] { owner = new Owner; });
    DATA_PTR(self) = owner;
    return self;
}

Owner &owner_of(VALUE self) {
    return *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
}

/* HeapDump.new(path); nothing is read yet. */
VALUE initialize(VALUE self, VALUE path) {
    Owner &owner = owner_of(self);
    if (owner.dump) rb_raise(rb_eArgError, "the dump is set up already");
    FilePathValue(path);
    const char *bytes = StringValueCStr(path);
    guarded([&] { owner.dump = std::make_unique<Dump>(bytes); });
    return self;
}

} // namespace

Owner &owner_at(VALUE self, Dump::Depth depth) {
    Owner &owner = owner_of(self);
    if (!owner.dump) rb_raise(rb_eArgError, "the dump was never set up");
    if (owner.work.busy) rb_raise(error_class, "the dump is being read by another thread");
    if (depth > owner.dump->depth()) rb_raise(error_class, "the dump has no index of this kind");
    return owner;
}

} // namespace heapline

extern "C" {
RUBY_FUNC_EXPORTED void Init_heap(void);
}

void Init_heap(void) {
    VALUE native = rb_define_module_under(heapline::begin_raising(), "Native");
    VALUE dump = rb_define_class_under(native, "HeapDump", rb_cObject);
    rb_define_alloc_func(dump, heapline::allocate);
    rb_define_method(dump, "initialize", RUBY_METHOD_FUNC(heapline::initialize), 1);
    heapline::define_reading(dump);
    heapline::define_graph(dump);
    heapline::define_holders(dump);
    heapline::define_code(dump);
    heapline::define_comparison(dump);
}
