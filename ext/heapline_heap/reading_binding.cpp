/* SPDX-License-Identifier: MIT */
/* Reading a dump, and what its survey tells. Rows are Arrays: keys, then count, bytes, slot bytes. */
#include "binding.hpp"

namespace heapline {

namespace {

/* Computes without the GVL; afterwards raises what went wrong. */
template <typename Body> void compute(VALUE self, Owner &owner, const Body &body) {
    auto position = [&owner] {
        uint64_t total = owner.dump->bytes_total();
        return rb_ary_new_from_args(2, ULL2NUM(owner.dump->bytes_read()), total ? ULL2NUM(total) : Qnil);
    };
    compute(self, owner.work, "there is not enough memory: it can take as much as the file is large", position, body);
}

Dump::Depth depth_of(VALUE index) {
    if (index == ID2SYM(rb_intern("objects"))) return Dump::objects;
    return RTEST(index) ? Dump::graph : Dump::survey_only;
}

/* read(index, strings, notes) { |bytes read, bytes in all or nil| } -> self. index: false, :objects or true; strings:
 * are duplicate strings wanted? notes: heapline's own lines? What is there already is not read again. Raises
 * Heapline::Error. */
VALUE read(VALUE self, VALUE index, VALUE strings, VALUE notes) {
    Owner &owner = owner_at(self, Dump::survey_only);
    Dump::Wanted wanted;
    wanted.depth = depth_of(index);
    wanted.strings = RTEST(strings);
    wanted.notes = RTEST(notes);
    Dump *dump = owner.dump.get();
    compute(self, owner, [=](const Job &job) { dump->read(wanted, job); });
    return self;
}

/* dominate { |bytes read, bytes in all or nil| } -> self: make the dominator tree. */
VALUE dominate(VALUE self) {
    Owner &owner = owner_at(self, Dump::graph);
    Dump *dump = owner.dump.get();
    compute(self, owner, [=](const Job &job) { dump->dominate(job); });
    return self;
}

const Dump &surveyed(VALUE self) {
    const Dump &dump = *owner_at(self, Dump::survey_only).dump;
    if (!dump.was_read()) raise_failure("the dump was not read");
    return dump;
}

const Survey &survey_of(VALUE self) {
    return surveyed(self).survey();
}

VALUE has_index(VALUE self) {
    return owner_at(self, Dump::survey_only).dump->depth() == Dump::graph ? Qtrue : Qfalse;
}

VALUE has_objects(VALUE self) {
    return owner_at(self, Dump::survey_only).dump->depth() >= Dump::objects ? Qtrue : Qfalse;
}

VALUE has_strings(VALUE self) {
    return owner_at(self, Dump::survey_only).dump->duplicates() ? Qtrue : Qfalse;
}

VALUE has_dominators(VALUE self) {
    return owner_at(self, Dump::survey_only).dump->dominators() ? Qtrue : Qfalse;
}

/* problems -> Array of String */
VALUE problems(VALUE self) {
    VALUE all = rb_ary_new();
    for (const std::string &problem : owner_at(self, Dump::survey_only).dump->problems())
        rb_ary_push(all, text(problem));
    return all;
}

void put(VALUE hash, const char *key, VALUE value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

/* totals -> Hash */
VALUE totals(VALUE self) {
    const Survey &survey = survey_of(self);
    VALUE hash = rb_hash_new();
    put(hash, "objects", ULL2NUM(survey.all.count));
    put(hash, "bytes", ULL2NUM(survey.all.bytes));
    put(hash, "slot_bytes", ULL2NUM(survey.all.slots));
    put(hash, "free_slots", ULL2NUM(survey.free_slots));
    put(hash, "references", ULL2NUM(survey.references));
    put(hash, "shapes", ULL2NUM(survey.shapes));
    put(hash, "shape_bytes", ULL2NUM(survey.shape_bytes));
    put(hash, "ruby", text(survey.ruby));
    put(hash, "pid", survey.pid ? ULL2NUM(survey.pid) : Qnil);
    put(hash, "time", text(survey.time));
    return hash;
}

VALUE push(VALUE rows, VALUE row, const Figures &figures) {
    rb_ary_push(row, ULL2NUM(figures.count));
    rb_ary_push(row, ULL2NUM(figures.bytes));
    rb_ary_push(row, ULL2NUM(figures.slots));
    return rb_ary_push(rows, row);
}

/* class_rows -> Array of [class name, type, file and line where the class is defined or nil, nil, figures…]; a class
 * may have several rows. */
VALUE class_rows(VALUE self) {
    Owner &owner = owner_at(self, Dump::survey_only);
    const Dump &dump = surveyed(self);
    guarded([&] {
        owner.scratch.groups.clear();
        owner.scratch.labels.clear();
        owner.scratch.places.clear();
        for (const auto &[key, figures] : dump.survey().classes) {
            owner.scratch.groups.emplace_back(dump.vocabulary().type_of(key.kind), figures);
            owner.scratch.labels.push_back(dump.classes().label(key.kind, key.address, dump.vocabulary()));
            owner.scratch.places.push_back(dump.classes().definition(key.kind, key.address, dump.vocabulary()));
        }
    });
    VALUE rows = rb_ary_new();
    for (size_t i = 0; i < owner.scratch.groups.size(); i++) {
        const Place &place = owner.scratch.places[i];
        VALUE row =
            rb_ary_new_from_args(4, text(owner.scratch.labels[i]), text(owner.scratch.groups[i].first),
                                 text(dump.vocabulary().text(place.file)), place.file ? UINT2NUM(place.line) : Qnil);
        push(rows, row, owner.scratch.groups[i].second);
    }
    return rows;
}

/* line_rows -> Array of [file, line, figures…]; nil, nil: not traced. A line with several methods has several rows. */
VALUE line_rows(VALUE self) {
    const Dump &dump = surveyed(self);
    const Survey &survey = dump.survey();
    VALUE rows = rb_ary_new();
    for (uint32_t i = 0; i < survey.places.size(); i++) {
        const Place &place = dump.vocabulary().place_at(i);
        if (!survey.places[i].count) continue;
        VALUE line = place.file ? UINT2NUM(place.line) : Qnil;
        push(rows, rb_ary_new_from_args(2, text(dump.vocabulary().text(place.file)), line), survey.places[i]);
    }
    return rows;
}

/* generation_rows -> Array of [generation or nil, figures…] */
VALUE generation_rows(VALUE self) {
    VALUE rows = rb_ary_new();
    for (const auto &[generation, figures] : survey_of(self).generations)
        push(rows, rb_ary_new_from_args(1, generation ? ULL2NUM(generation - 1) : Qnil), figures);
    return rows;
}

/* root_rows -> Array of [name, references] */
VALUE root_rows(VALUE self) {
    VALUE rows = rb_ary_new();
    for (const auto &[name, count] : survey_of(self).roots)
        rb_ary_push(rows, rb_ary_new_from_args(2, text(name), ULL2NUM(count)));
    return rows;
}

/* string_rows -> Array of [figures…]: interned, embedded, shared, with memory of their own */
VALUE string_rows(VALUE self) {
    VALUE rows = rb_ary_new();
    for (const Figures &figures : survey_of(self).strings) push(rows, rb_ary_new(), figures);
    return rows;
}

/* duplicate_strings(limit) -> Array of [beginning, bytesize, count, bytes, wasted bytes] */
VALUE duplicate_strings(VALUE self, VALUE limit) {
    Owner &owner = owner_at(self, Dump::survey_only);
    size_t most = NUM2SIZET(limit);
    if (!owner.dump->duplicates()) raise_failure("the dump's strings were not read");
    guarded([&] { owner.scratch.values = owner.dump->duplicates()->worst(most); });
    VALUE rows = rb_ary_new();
    for (const Duplicates::Value &value : owner.scratch.values) {
        VALUE beginning = value.beginning.empty() ? rb_utf8_str_new("", 0) : text(value.beginning);
        rb_ary_push(rows, rb_ary_new_from_args(5, beginning, ULL2NUM(value.bytesize), ULL2NUM(value.count),
                                               ULL2NUM(value.bytes), ULL2NUM(value.wasted)));
    }
    return rows;
}

} // namespace

void define_reading(VALUE dump) {
    rb_define_method(dump, "read", RUBY_METHOD_FUNC(read), 3);
    rb_define_method(dump, "dominate", RUBY_METHOD_FUNC(dominate), 0);
    rb_define_method(dump, "index?", RUBY_METHOD_FUNC(has_index), 0);
    rb_define_method(dump, "objects?", RUBY_METHOD_FUNC(has_objects), 0);
    rb_define_method(dump, "strings?", RUBY_METHOD_FUNC(has_strings), 0);
    rb_define_method(dump, "dominated?", RUBY_METHOD_FUNC(has_dominators), 0);
    rb_define_method(dump, "problems", RUBY_METHOD_FUNC(problems), 0);
    rb_define_method(dump, "totals", RUBY_METHOD_FUNC(totals), 0);
    rb_define_method(dump, "class_rows", RUBY_METHOD_FUNC(class_rows), 0);
    rb_define_method(dump, "line_rows", RUBY_METHOD_FUNC(line_rows), 0);
    rb_define_method(dump, "generation_rows", RUBY_METHOD_FUNC(generation_rows), 0);
    rb_define_method(dump, "root_rows", RUBY_METHOD_FUNC(root_rows), 0);
    rb_define_method(dump, "string_rows", RUBY_METHOD_FUNC(string_rows), 0);
    rb_define_method(dump, "duplicate_strings", RUBY_METHOD_FUNC(duplicate_strings), 1);
}

} // namespace heapline
