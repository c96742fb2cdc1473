/* SPDX-License-Identifier: MIT */
/* Compiled code of a dump: what heapline wrote of it, and what any dump tells. */
#include "binding.hpp"
#include "code.hpp"

namespace heapline {

namespace {

/* notes -> String or nil: the header and the lines of code and of sites of a dump by heapline; nil: not read */
VALUE notes(VALUE self) {
    const std::string *notes = owner_at(self, Dump::survey_only).dump->notes();
    return notes ? valid_text(notes->data(), notes->size()) : Qnil;
}

VALUE value_of(const Graph &graph, uint32_t node) {
    if (node == NOBODY) return Qnil;
    std::string_view value = graph.value(node);
    return valid_text(value.data(), value.size());
}

/* code_rows -> Array of [address, path, label, base label, bytes, file, line, generation]; the last three are those of
 * its birth, nil where nothing was traced. */
VALUE code_rows(VALUE self) {
    Owner &owner = owner_at(self, Dump::graph);
    const Dump &dump = *owner.dump;
    const Graph &graph = *dump.nodes();
    guarded([&] { owner.scratch.code = find_code(graph, dump.vocabulary(), Job()); });
    VALUE rows = rb_ary_new();
    for (const Code &code : owner.scratch.code) {
        const Node &node = graph.node(code.node);
        const Place &place = dump.vocabulary().place_at(node.place);
        VALUE line = place.file ? UINT2NUM(place.line) : Qnil;
        VALUE generation = node.generation ? UINT2NUM(node.generation - 1) : Qnil;
        VALUE row = rb_ary_new_from_args(4, ULL2NUM(node.address), value_of(graph, code.path),
                                         value_of(graph, code.label), value_of(graph, code.base_label));
        VALUE birth = rb_ary_new_from_args(3, text(dump.vocabulary().text(place.file)), line, generation);
        rb_ary_push(row, ULL2NUM(graph.bytes(code.node)));
        rb_ary_push(rows, rb_ary_concat(row, birth));
    }
    return rows;
}

} // namespace

void define_code(VALUE dump) {
    rb_define_method(dump, "notes", RUBY_METHOD_FUNC(notes), 0);
    rb_define_method(dump, "code_rows", RUBY_METHOD_FUNC(code_rows), 0);
}

} // namespace heapline
