/* SPDX-License-Identifier: MIT */
/* The objects of a dump and what leads where. An object's row is that of Heap::Object. */
#include <ruby/encoding.h>

#include "binding.hpp"

namespace heapline {

namespace {

/* These take well under a second and are not interrupted. */
const Job SHORT;

VALUE bytes_text(std::string_view bytes) {
    return valid_text(bytes.data(), bytes.size());
}

VALUE flag(const Node &node, uint8_t which) {
    return node.flags & which ? Qtrue : Qfalse;
}

VALUE root_row(Owner &owner, uint32_t node) {
    VALUE row = rb_ary_new_from_args(3, Qnil, rb_utf8_str_new_cstr("ROOT"), text(owner.dump->nodes()->root_name(node)));
    return row;
}

/* Strings have a value even where it is empty. */
VALUE value_of(const Dump &dump, uint32_t number) {
    const Node &node = dump.nodes()->node(number);
    if (node.value) return bytes_text(dump.nodes()->value(number));
    bool empty = node.flags & Line::has_length && !dump.nodes()->length(number);
    return empty && dump.vocabulary().type_of(node.kind) == "STRING" ? bytes_text("") : Qnil;
}

uint32_t find(const Owner &owner, VALUE address) {
    return owner.dump->nodes()->find(NUM2ULL(address));
}

VALUE edge_row(Owner &owner, uint32_t node, uint32_t from, uint32_t to) {
    VALUE object = object_row(owner, node);
    guarded([&] { owner.scratch.text = owner.dump->edge_name(from, to); });
    return rb_ary_new_from_args(2, object, text(owner.scratch.text));
}

/* object(address) -> row or nil */
VALUE object(VALUE self, VALUE address) {
    Owner &owner = owner_at(self, Dump::objects);
    uint32_t node = find(owner, address);
    return node == NOBODY ? Qnil : object_row(owner, node);
}

/* references(address, limit) -> Array of [row, name or nil] */
VALUE references(VALUE self, VALUE address, VALUE limit) {
    Owner &owner = owner_at(self, Dump::graph);
    size_t most = NUM2SIZET(limit);
    uint32_t from = find(owner, address);
    VALUE rows = rb_ary_new();
    if (from == NOBODY) return rows;
    const Edges &edges = owner.dump->nodes()->outgoing();
    for (const uint32_t *to = edges.first(from); to < edges.last(from) && most; to++, most--)
        rb_ary_push(rows, edge_row(owner, *to, from, *to));
    return rows;
}

/* Those that refer to it otherwise before those that are its instances. */
void find_referrers(Owner &owner, uint32_t to, size_t most) {
    Graph &graph = *owner.dump->nodes();
    const Edges &edges = graph.incoming(SHORT);
    owner.scratch.nodes.clear();
    for (bool instances : {false, true}) {
        for (const uint32_t *from = edges.first(to); from < edges.last(to); from++) {
            bool instance = graph.is_object(*from) && graph.class_of(*from) == to;
            if (instance == instances && owner.scratch.nodes.size() < most) owner.scratch.nodes.push_back(*from);
        }
    }
}

/* referrers(address, limit) -> Array of [row, name or nil] */
VALUE referrers(VALUE self, VALUE address, VALUE limit) {
    Owner &owner = owner_at(self, Dump::graph);
    size_t most = NUM2SIZET(limit);
    uint32_t to = find(owner, address);
    VALUE rows = rb_ary_new();
    if (to == NOBODY) return rows;
    guarded([&] { find_referrers(owner, to, most); });
    for (uint32_t from : owner.scratch.nodes) rb_ary_push(rows, edge_row(owner, from, from, to));
    return rows;
}

/* referrer_count(address) -> Integer */
VALUE referrer_count(VALUE self, VALUE address) {
    Owner &owner = owner_at(self, Dump::graph);
    uint32_t to = find(owner, address);
    if (to == NOBODY) return INT2FIX(0);
    const Edges *edges = nullptr;
    guarded([&] { edges = &owner.dump->nodes()->incoming(SHORT); });
    return UINT2NUM(edges->begin[to + 1] - edges->begin[to]);
}

/* instances_of(class name, limit) -> Array of addresses */
VALUE instances_of(VALUE self, VALUE name, VALUE limit) {
    Owner &owner = owner_at(self, Dump::objects);
    size_t most = NUM2SIZET(limit);
    StringValue(name);
    std::string_view wanted(RSTRING_PTR(name), static_cast<size_t>(RSTRING_LEN(name)));
    const Dump::Groups *groups = nullptr;
    guarded([&] { groups = &owner.dump->groups(SHORT); });
    VALUE addresses = rb_ary_new();
    size_t group = 0;
    while (group < groups->names.size() && groups->names[group] != wanted) group++;
    for (uint32_t node = 0; most && group < groups->names.size() && node < groups->of.size(); node++) {
        if (groups->of[node] != group) continue;
        rb_ary_push(addresses, ULL2NUM(owner.dump->nodes()->node(node).address));
        most--;
    }
    RB_GC_GUARD(name);
    return addresses;
}

/* path(address) -> Array of [row, name or nil] from a root to the object; nil: nothing leads to it. */
VALUE path(VALUE self, VALUE address) {
    Owner &owner = owner_at(self, Dump::graph);
    uint32_t node = find(owner, address);
    if (node == NOBODY) return Qnil;
    guarded([&] { owner.scratch.nodes = owner.dump->search(SHORT).path(node); });
    if (owner.scratch.nodes.empty()) return Qnil;
    VALUE rows = rb_ary_new();
    for (size_t i = 0; i < owner.scratch.nodes.size(); i++) {
        uint32_t to = owner.scratch.nodes[i], from = i ? owner.scratch.nodes[i - 1] : owner.dump->nodes()->top();
        rb_ary_push(rows, edge_row(owner, to, from, to));
    }
    return rows;
}

} // namespace

VALUE object_row(Owner &owner, uint32_t number) {
    const Dump &dump = *owner.dump;
    const Graph &graph = *dump.nodes();
    if (!graph.is_object(number)) return root_row(owner, number);
    const Vocabulary &words = dump.vocabulary();
    const Node &node = graph.node(number);
    const Place &place = words.place_at(node.place), definition = dump.definition(number);
    const Class *one = dump.classes().find(node.address);
    guarded([&] { owner.scratch.text = dump.label(number); });
    return rb_ary_new_from_args(
        20, ULL2NUM(node.address), text(words.type_of(node.kind)), text(owner.scratch.text),
        text(words.text(words.kind_at(node.kind).detail)), one ? text(words.text(one->name)) : Qnil,
        ULL2NUM(graph.bytes(number)), UINT2NUM(node.slot), text(words.text(place.file)),
        place.file ? UINT2NUM(place.line) : Qnil, text(words.text(place.method)),
        node.generation ? UINT2NUM(node.generation - 1) : Qnil, value_of(dump, number),
        node.flags & Line::has_length ? ULL2NUM(graph.length(number)) : Qnil, flag(node, Line::embedded),
        flag(node, Line::shared), flag(node, Line::frozen), flag(node, Line::interned), flag(node, Line::singleton),
        text(words.text(definition.file)), definition.file ? UINT2NUM(definition.line) : Qnil);
}

void define_graph(VALUE dump) {
    rb_define_method(dump, "object", RUBY_METHOD_FUNC(object), 1);
    rb_define_method(dump, "references", RUBY_METHOD_FUNC(references), 2);
    rb_define_method(dump, "referrers", RUBY_METHOD_FUNC(referrers), 2);
    rb_define_method(dump, "referrer_count", RUBY_METHOD_FUNC(referrer_count), 1);
    rb_define_method(dump, "instances_of", RUBY_METHOD_FUNC(instances_of), 2);
    rb_define_method(dump, "path", RUBY_METHOD_FUNC(path), 1);
}

} // namespace heapline
