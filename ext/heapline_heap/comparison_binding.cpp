/* SPDX-License-Identifier: MIT */
/* HeapDump.compare. */
#include "binding.hpp"

namespace heapline {

namespace {

/* The order of the members of Heap::Change, after its key. */
const Comparison::Stage ORDER[] = {Comparison::before, Comparison::after, Comparison::last,
                                   Comparison::born,   Comparison::gone,  Comparison::kept};

VALUE row_of(const Comparison &comparison, const Comparison::Row &found) {
    const Vocabulary &words = comparison.vocabulary();
    const Comparison::Key &key = found.key;
    VALUE row = rb_ary_new_from_args(5, text(words.text(key.label)), text(words.text(key.type)),
                                     text(words.text(key.file)), key.file ? UINT2NUM(key.line) : Qnil,
                                     key.generation ? UINT2NUM(key.generation - 1) : Qnil);
    for (Comparison::Stage stage : ORDER) {
        rb_ary_push(row, ULL2NUM(found.figures[stage].count));
        rb_ary_push(row, ULL2NUM(found.figures[stage].bytes));
    }
    return row;
}

/* HeapDump.compare(a, b, c = none) -> [same process?, Array of [class name, type, file, line, generation, and count and
 * bytes before, after, last, born, gone, kept]]. All are read to the depth of objects. */
VALUE compare(int count, VALUE *arguments, VALUE) {
    if (count < 2 || count > 3) rb_raise(rb_eArgError, "two or three dumps");
    for (int i = 0; i < count; i++) owner_at(arguments[i], Dump::objects);
    Owner &owner = owner_at(arguments[0], Dump::objects);
    guarded([&] {
        std::vector<Dump *> dumps;
        for (int i = 0; i < count; i++) dumps.push_back(owner_at(arguments[i], Dump::objects).dump.get());
        owner.scratch.comparison = std::make_unique<Comparison>(dumps, Job());
    });
    VALUE rows = rb_ary_new();
    for (const Comparison::Row &row : owner.scratch.comparison->rows())
        rb_ary_push(rows, row_of(*owner.scratch.comparison, row));
    bool same = owner.scratch.comparison->same_process();
    owner.scratch.comparison.reset();
    return rb_ary_new_from_args(2, same ? Qtrue : Qfalse, rows);
}

} // namespace

void define_comparison(VALUE dump) {
    rb_define_singleton_method(dump, "compare", RUBY_METHOD_FUNC(compare), -1);
}

} // namespace heapline
