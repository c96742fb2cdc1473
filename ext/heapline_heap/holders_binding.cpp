/* SPDX-License-Identifier: MIT */
/* What retains what. A holder's row is [object's row, retained bytes, retained objects]. */
#include <algorithm>

#include "binding.hpp"

namespace heapline {

namespace {

const Job SHORT;

/* A limit beyond all nodes means all. */
size_t limit_of(VALUE limit) {
    return NUM2SIZET(limit);
}

Owner &owner_of_tree(VALUE self) {
    Owner &owner = owner_at(self, Dump::graph);
    if (!owner.dump->dominators()) raise_failure("the dump has no dominator tree yet");
    return owner;
}

VALUE holder_row(Owner &owner, uint32_t node) {
    const Dominators &tree = *owner.dump->dominators();
    return rb_ary_new_from_args(3, object_row(owner, node), ULL2NUM(tree.retained_bytes(node)),
                                UINT2NUM(tree.retained_count(node)));
}

VALUE holder_rows(Owner &owner) {
    VALUE rows = rb_ary_new();
    for (uint32_t node : owner.scratch.nodes) rb_ary_push(rows, holder_row(owner, node));
    return rows;
}

/* top_holders(limit) -> Array of holders' rows */
VALUE top_holders(VALUE self, VALUE limit) {
    Owner &owner = owner_of_tree(self);
    size_t most = limit_of(limit);
    guarded([&] { owner.scratch.nodes = owner.dump->dominators()->largest(most); });
    return holder_rows(owner);
}

/* held(address or nil, limit) -> Array of holders' rows: what the object, or none but roots, dominates at once */
VALUE held(VALUE self, VALUE address, VALUE limit) {
    Owner &owner = owner_of_tree(self);
    size_t most = limit_of(limit);
    uint32_t node = NIL_P(address) ? NOBODY : owner.dump->nodes()->find(NUM2ULL(address));
    if (node == NOBODY && !NIL_P(address)) return rb_ary_new();
    const Dominators &tree = *owner.dump->dominators();
    guarded([&] { owner.scratch.nodes = NIL_P(address) ? tree.uppermost(most) : tree.children(node, most); });
    return holder_rows(owner);
}

/* The node at `address`, where the roots lead to it. */
uint32_t reached(const Owner &owner, VALUE address) {
    uint32_t node = owner.dump->nodes()->find(NUM2ULL(address));
    return node != NOBODY && owner.dump->dominators()->reached(node) ? node : NOBODY;
}

/* holder(address) -> row or nil */
VALUE holder(VALUE self, VALUE address) {
    Owner &owner = owner_of_tree(self);
    uint32_t node = reached(owner, address);
    return node == NOBODY ? Qnil : holder_row(owner, node);
}

/* holder_of(address) -> row of the object that dominates it, or nil */
VALUE holder_of(VALUE self, VALUE address) {
    Owner &owner = owner_of_tree(self);
    uint32_t node = reached(owner, address);
    if (node == NOBODY) return Qnil;
    uint32_t above = owner.dump->dominators()->parent(node);
    return owner.dump->nodes()->is_object(above) ? holder_row(owner, above) : Qnil;
}

VALUE figures_row(const Figures &figures) {
    return rb_ary_new_from_args(3, ULL2NUM(figures.count), ULL2NUM(figures.bytes), ULL2NUM(figures.slots));
}

void find_class_holders(Owner &owner, size_t most) {
    const Dump::Groups &groups = owner.dump->groups(SHORT);
    std::vector<Figures> figures = owner.dump->dominators()->by_group(groups.of, groups.names.size(), SHORT);
    auto &found = owner.scratch.groups;
    found.clear();
    for (size_t i = 0; i < figures.size(); i++)
        if (figures[i].count) found.emplace_back(groups.names[i], figures[i]);
    std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
        return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
    });
    if (found.size() > most) found.resize(most);
}

/* class_holders(limit) -> Array of [class name, instances, retained bytes, slot bytes] */
VALUE class_holders(VALUE self, VALUE limit) {
    Owner &owner = owner_of_tree(self);
    size_t most = limit_of(limit);
    guarded([&] { find_class_holders(owner, most); });
    VALUE rows = rb_ary_new();
    for (const auto &[name, figures] : owner.scratch.groups) {
        VALUE row = figures_row(figures);
        rb_ary_unshift(row, text(name));
        rb_ary_push(rows, row);
    }
    return rows;
}

/* reachable, unreachable -> [count, bytes, slot bytes] */
VALUE reachable(VALUE self) {
    return figures_row(owner_of_tree(self).dump->dominators()->reachable());
}

VALUE unreachable(VALUE self) {
    return figures_row(owner_of_tree(self).dump->dominators()->unreachable());
}

} // namespace

void define_holders(VALUE dump) {
    rb_define_method(dump, "top_holders", RUBY_METHOD_FUNC(top_holders), 1);
    rb_define_method(dump, "held", RUBY_METHOD_FUNC(held), 2);
    rb_define_method(dump, "holder", RUBY_METHOD_FUNC(holder), 1);
    rb_define_method(dump, "holder_of", RUBY_METHOD_FUNC(holder_of), 1);
    rb_define_method(dump, "class_holders", RUBY_METHOD_FUNC(class_holders), 1);
    rb_define_method(dump, "reachable", RUBY_METHOD_FUNC(reachable), 0);
    rb_define_method(dump, "unreachable", RUBY_METHOD_FUNC(unreachable), 0);
}

} // namespace heapline
