/* SPDX-License-Identifier: MIT */
/* Where memory was allocated: sites, stacks and trees. Frames are numbers; `frames` says what they are. */
#include "binding.hpp"

namespace heapline {
namespace capture {

namespace {

/* A frame of Ruby's has a line where it has a path: code from a string may begin at line 0. */
VALUE line_of(const Frame &frame) {
    return frame.line || (frame.path && !frame.library) ? UINT2NUM(frame.line) : Qnil;
}

/* frames -> Array of [label, path, line, library, offset], by number */
VALUE frames(VALUE self) {
    const Names &names = owner_of(self).reader->names();
    VALUE rows = rb_ary_new();
    for (uint32_t number = 0; number < names.frames(); number++) {
        const Frame &frame = names.frame(number);
        VALUE offset = frame.library ? ULL2NUM(frame.offset) : Qnil;
        rb_ary_push(rows, rb_ary_new_from_args(5, text(names.string(frame.label)), text(names.string(frame.path)),
                                               line_of(frame), text(names.string(frame.library)), offset));
    }
    return rows;
}

/* show(frame, Array of numbers): a frame is shown as these, the outermost first; above those of `frames` they are the
 * caller's own. */
VALUE show(VALUE self, VALUE frame, VALUE as) {
    Owner &owner = owner_of(self);
    uint32_t number = NUM2UINT(frame);
    Check_Type(as, T_ARRAY);
    if (number >= owner.reader->names().frames()) rb_raise(rb_eArgError, "there is no frame %u", number);
    guarded([&] { owner.rows.assign(static_cast<size_t>(RARRAY_LEN(as)), 0); });
    for (size_t i = 0; i < owner.rows.size(); i++) owner.rows[i] = NUM2UINT(RARRAY_AREF(as, static_cast<long>(i)));
    guarded([&] { owner.shown->name(number, owner.rows); });
    return self;
}

/* site_rows -> Array of [frame of Ruby, native frame, thread, tag, class, sums…]; 0: none */
VALUE site_rows(VALUE self) {
    Owner &owner = analysed(self);
    guarded([&] { owner.sites = sites(owner.reader->names(), *owner.shown, owner.analysis->contexts()); });
    VALUE rows = rb_ary_new();
    for (const Site &site : owner.sites)
        rb_ary_push(rows, push(rb_ary_new_from_args(5, UINT2NUM(site.ruby), UINT2NUM(site.leaf), UINT2NUM(site.thread),
                                                    UINT2NUM(site.tag), UINT2NUM(site.klass)),
                               site.sums));
    return rows;
}

/* stack_rows -> Array of [frames, the outermost first; thread, tag, class, sums…] */
VALUE stack_rows(VALUE self) {
    Owner &owner = analysed(self);
    const Names &names = owner.reader->names();
    VALUE rows = rb_ary_new();
    for (const Analysis::Context &context : owner.analysis->contexts()) {
        VALUE path = rb_ary_new();
        for (uint32_t at = context.stack; at; at = names.node(at).parent)
            owner.shown->outward(names.node(at).frame, [&](uint32_t frame) { rb_ary_push(path, UINT2NUM(frame)); });
        VALUE row = rb_ary_new_from_args(4, rb_ary_reverse(path), UINT2NUM(context.thread), UINT2NUM(context.tag),
                                         UINT2NUM(context.klass));
        rb_ary_push(rows, push(row, context.sums));
    }
    return rows;
}

Metric metric_of(VALUE name) {
    if (name == ID2SYM(rb_intern("allocated"))) return Metric::allocated;
    if (name == ID2SYM(rb_intern("peak"))) return Metric::peak;
    if (name == ID2SYM(rb_intern("live"))) return Metric::live;
    if (name == ID2SYM(rb_intern("temporary"))) return Metric::temporary;
    if (name == ID2SYM(rb_intern("freed"))) return Metric::freed;
    rb_raise(rb_eArgError, "allocated, peak, live, temporary or freed");
}

/* tree_rows(metric, bottom_up) -> Array of [parent, frame, count and bytes of itself, of all below]; the first is the
 * root, and a parent comes before its children */
VALUE tree_rows(VALUE self, VALUE metric, VALUE bottom_up) {
    Owner &owner = analysed(self);
    Metric wanted = metric_of(metric);
    bool upwards = RTEST(bottom_up);
    guarded([&] {
        owner.tree =
            std::make_unique<Tree>(owner.reader->names(), *owner.shown, owner.analysis->contexts(), wanted, upwards);
    });
    VALUE rows = rb_ary_new();
    for (const Tree::Node &node : owner.tree->nodes())
        rb_ary_push(rows, rb_ary_new_from_args(6, UINT2NUM(node.parent), UINT2NUM(node.frame), ULL2NUM(node.self.count),
                                               ULL2NUM(node.self.bytes), ULL2NUM(node.total.count),
                                               ULL2NUM(node.total.bytes)));
    owner.tree.reset();
    return rows;
}

} // namespace

void define_paths(VALUE capture) {
    rb_define_method(capture, "frames", RUBY_METHOD_FUNC(frames), 0);
    rb_define_method(capture, "show", RUBY_METHOD_FUNC(show), 2);
    rb_define_method(capture, "site_rows", RUBY_METHOD_FUNC(site_rows), 0);
    rb_define_method(capture, "stack_rows", RUBY_METHOD_FUNC(stack_rows), 0);
    rb_define_method(capture, "tree_rows", RUBY_METHOD_FUNC(tree_rows), 2);
}

} // namespace capture
} // namespace heapline
