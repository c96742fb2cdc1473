/* SPDX-License-Identifier: MIT */
/* analyse, and what one pass over a capture adds up. Figures are counts and bytes. */
#include "binding.hpp"

namespace heapline {
namespace capture {

namespace {

/* Which numbers are chosen: of an Array of Integer, or nil for all. */
std::vector<bool> chosen(VALUE numbers) {
    std::vector<bool> chosen;
    if (NIL_P(numbers)) return chosen;
    chosen.resize(1);
    for (long i = 0; i < RARRAY_LEN(numbers); i++) {
        size_t number = static_cast<size_t>(FIX2INT(RARRAY_AREF(numbers, i)));
        if (number >= chosen.size()) chosen.resize(number + 1);
        chosen[number] = true;
    }
    return chosen;
}

void check_numbers(VALUE numbers) {
    if (NIL_P(numbers)) return;
    Check_Type(numbers, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(numbers); i++) {
        VALUE number = RARRAY_AREF(numbers, i);
        if (!FIXNUM_P(number) || FIX2LONG(number) < 0 || FIX2LONG(number) >= 1 << 24)
            rb_raise(rb_eArgError, "numbers of threads and tags");
    }
}

/* lifespan: nil or [shortest, longest, in milliseconds?] */
void check_lifespan(VALUE lifespan, Query &query) {
    if (NIL_P(lifespan)) return;
    Check_Type(lifespan, T_ARRAY);
    if (RARRAY_LEN(lifespan) != 3) rb_raise(rb_eArgError, "a lifespan is [shortest, longest, in milliseconds?]");
    query.lifespan = true;
    query.shortest = NUM2ULL(RARRAY_AREF(lifespan, 0));
    query.longest = NUM2ULL(RARRAY_AREF(lifespan, 1));
    query.unit = RTEST(RARRAY_AREF(lifespan, 2)) ? Query::Unit::milliseconds : Query::Unit::generations;
}

/* analyse(from ns or nil, to ns or nil, threads, tags, lifespan, :blocks, :mappings or :objects, classes) { |bytes
 * read, bytes in all| } -> self */
VALUE analyse(int count, VALUE *arguments, VALUE self) {
    rb_check_arity(count, 7, 7);
    Owner &owner = owner_of(self);
    uint64_t from = NIL_P(arguments[0]) ? 0 : NUM2ULL(arguments[0]);
    uint64_t to = NIL_P(arguments[1]) ? UINT64_MAX : NUM2ULL(arguments[1]);
    check_numbers(arguments[2]);
    check_numbers(arguments[3]);
    check_numbers(arguments[6]);
    owner.query = Query();
    check_lifespan(arguments[4], owner.query);
    owner.query.from_ns = from;
    owner.query.to_ns = to;
    owner.query.mappings = arguments[5] == ID2SYM(rb_intern("mappings"));
    owner.query.objects = arguments[5] == ID2SYM(rb_intern("objects"));
    guarded([&] {
        owner.query.threads = chosen(arguments[2]);
        owner.query.tags = chosen(arguments[3]);
        owner.query.classes = chosen(arguments[6]);
    });
    Reader &reader = *owner.reader;
    auto position = [&reader] {
        return rb_ary_new_from_args(2, ULL2NUM(reader.bytes_read()), ULL2NUM(reader.bytes_total()));
    };
    owner.analysis.reset();
    compute(self, owner.work, "there is not enough memory for the blocks that are live at the same time", position,
            [&](const Job &job) { owner.analysis = std::make_unique<Analysis>(reader, owner.query, job); });
    return self;
}

/* sums -> [allocations, bytes, blocks and bytes at the peak, live, temporary, freed] */
VALUE sums(VALUE self) {
    return push(rb_ary_new(), analysed(self).analysis->sums());
}

/* counts -> [ns of the end, ns of the peak, events, lost, GCs, ends of unknown blocks, ns in GC or nil] */
VALUE counts(VALUE self) {
    const Analysis &analysis = *analysed(self).analysis;
    return rb_ary_new_from_args(7, ULL2NUM(analysis.end_ns()), ULL2NUM(analysis.peak_ns()), ULL2NUM(analysis.events()),
                                ULL2NUM(analysis.lost()), ULL2NUM(analysis.collections().size()),
                                ULL2NUM(analysis.unknown_ends()),
                                analysis.tells_pauses() ? ULL2NUM(analysis.paused_ns()) : Qnil);
}

/* The innermost frame of Ruby that is not the VM's own (`<internal:gc>`); 0: none. */
uint32_t line_of(const Names &names, uint32_t stack) {
    for (uint32_t at = stack; at; at = names.node(at).parent) {
        const Frame &frame = names.frame(names.node(at).frame);
        if (frame.path && names.string(frame.path).rfind("<internal:", 0) != 0) return names.node(at).frame;
    }
    return 0;
}

/* collections -> Array of [GCs before it, ns of its beginning, of its end or nil, for which the program stood still,
 * frame of the line that ran into it or 0] */
VALUE collections(VALUE self) {
    Owner &owner = analysed(self);
    const Analysis &analysis = *owner.analysis;
    VALUE rows = rb_ary_new();
    for (const Collection &each : analysis.collections()) {
        VALUE end = each.end_ns == Collections::UNKNOWN ? Qnil : ULL2NUM(each.end_ns);
        VALUE paused = analysis.tells_pauses() ? ULL2NUM(each.paused_ns) : Qnil;
        const uint32_t line = line_of(owner.reader->names(), each.stack);
        rb_ary_push(rows,
                    rb_ary_new_from_args(5, ULL2NUM(each.number), ULL2NUM(each.begin_ns), end, paused, UINT2NUM(line)));
    }
    return rows;
}

/* call_rows -> Array of [function, is it a release?, calls, bytes]; a function may have several rows */
VALUE call_rows(VALUE self) {
    const Analysis &analysis = *analysed(self).analysis;
    VALUE rows = rb_ary_new();
    for (size_t i = 0; i < KINDS; i++) {
        const char *function = function_of(static_cast<Kind>(i));
        if (!function[0] || !analysis.calls()[i].count) continue;
        VALUE release = i >= static_cast<size_t>(Kind::free) ? Qtrue : Qfalse;
        rb_ary_push(rows, push(rb_ary_new_from_args(2, rb_utf8_str_new_cstr(function), release), analysis.calls()[i]));
    }
    return rows;
}

template <typename Histogram> VALUE rows_of(const Histogram &histogram) {
    VALUE rows = rb_ary_new();
    for (const Figures &figures : histogram) rb_ary_push(rows, push(rb_ary_new(), figures));
    return rows;
}

/* size_rows -> Array of [blocks, bytes] by how many bits a size has */
VALUE size_rows(VALUE self) {
    return rows_of(analysed(self).analysis->sizes());
}

/* age_rows -> Array of [blocks, bytes] of what was freed, by how many bits its lifespan in generations has */
VALUE age_rows(VALUE self) {
    return rows_of(analysed(self).analysis->ages());
}

/* spans -> [ns of the first, ns of each, Array of [allocations, bytes, frees, bytes, live at its end, most live, GCs,
 * ns in GC]] */
VALUE spans(VALUE self) {
    Owner &owner = analysed(self);
    guarded([&] { owner.spans = owner.analysis->timeline().spans(); });
    VALUE rows = rb_ary_new();
    for (const Timeline::Span &span : owner.spans)
        rb_ary_push(rows, rb_ary_new_from_args(8, ULL2NUM(span.allocations), ULL2NUM(span.allocated),
                                               ULL2NUM(span.frees), ULL2NUM(span.freed), ULL2NUM(span.live),
                                               ULL2NUM(span.most), ULL2NUM(span.collections), ULL2NUM(span.paused)));
    const Timeline &timeline = owner.analysis->timeline();
    return rb_ary_new_from_args(3, ULL2NUM(timeline.begin_ns()), ULL2NUM(timeline.width_ns()), rows);
}

} // namespace

void define_analysis(VALUE capture) {
    rb_define_method(capture, "analyse", RUBY_METHOD_FUNC(analyse), -1);
    rb_define_method(capture, "sums", RUBY_METHOD_FUNC(sums), 0);
    rb_define_method(capture, "counts", RUBY_METHOD_FUNC(counts), 0);
    rb_define_method(capture, "collections", RUBY_METHOD_FUNC(collections), 0);
    rb_define_method(capture, "call_rows", RUBY_METHOD_FUNC(call_rows), 0);
    rb_define_method(capture, "size_rows", RUBY_METHOD_FUNC(size_rows), 0);
    rb_define_method(capture, "age_rows", RUBY_METHOD_FUNC(age_rows), 0);
    rb_define_method(capture, "spans", RUBY_METHOD_FUNC(spans), 0);
}

} // namespace capture
} // namespace heapline
