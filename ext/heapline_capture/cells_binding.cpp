/* SPDX-License-Identifier: MIT */
/* cells: what a page recomputes from. */
#include "binding.hpp"

namespace heapline {
namespace capture {

namespace {

/* cells(row of each context, most cells) { |bytes read, bytes in all| } -> [ns of a span, Array of the first
 * tick of each and their number, String]; see Cells::bytes. The capture is read twice. Contexts are in the order of
 * stack_rows. */
VALUE cells(VALUE self, VALUE rows, VALUE most) {
    Owner &owner = analysed(self);
    Check_Type(rows, T_ARRAY);
    if (static_cast<size_t>(RARRAY_LEN(rows)) != owner.analysis->contexts().size())
        rb_raise(rb_eArgError, "a row for each of %lu contexts",
                 static_cast<unsigned long>(owner.analysis->contexts().size()));
    size_t limit = NUM2ULONG(most);
    guarded([&] { owner.rows.assign(static_cast<size_t>(RARRAY_LEN(rows)), 0); });
    for (size_t i = 0; i < owner.rows.size(); i++) owner.rows[i] = NUM2UINT(RARRAY_AREF(rows, static_cast<long>(i)));
    guarded([&] { owner.moments = std::make_unique<Moments>(*owner.analysis); });
    Reader &reader = *owner.reader;
    auto position = [&reader] {
        return rb_ary_new_from_args(2, ULL2NUM(reader.bytes_read()), ULL2NUM(reader.bytes_total()));
    };
    compute(self, owner.work, "there is not enough memory for the blocks that are live at the same time", position,
            [&](const Job &job) {
                Analysis(reader, owner.query, job, owner.moments.get());
                owner.cells =
                    std::make_unique<Cells>(std::move(owner.rows), *owner.analysis, owner.moments->all(), limit);
                owner.moments.reset();
                Analysis(reader, owner.query, job, owner.cells.get());
                owner.bytes = owner.cells->bytes();
                owner.starts = owner.cells->starts();
            });
    VALUE width = ULL2NUM(owner.cells->width_ns()), starts = rb_ary_new();
    owner.cells.reset();
    for (unsigned start : owner.starts) rb_ary_push(starts, UINT2NUM(start));
    return rb_ary_new_from_args(3, width, starts,
                                rb_str_new(owner.bytes.data(), static_cast<long>(owner.bytes.size())));
}

} // namespace

void define_cells(VALUE capture) {
    rb_define_method(capture, "cells", RUBY_METHOD_FUNC(cells), 2);
}

} // namespace capture
} // namespace heapline
