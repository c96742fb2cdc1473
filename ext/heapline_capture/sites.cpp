/* SPDX-License-Identifier: MIT */
#include "sites.hpp"

#include <map>
#include <tuple>

namespace heapline {
namespace capture {

namespace {

/* The frames that make the place of a stack. */
struct Place {
    uint32_t ruby = 0, leaf = 0;
};

/* It says where C frames may be missing and stands for no line: that is further out. */
bool says_c_is_missing(const Names &names, const Frame &frame) {
    return !frame.path && !frame.library && names.string(frame.label) == "(C frames not known)";
}

Place place_of(const Names &names, const Shown &shown, uint32_t stack) {
    Place place;
    bool is_missing = false; /* who called is not known further out */
    for (uint32_t at = stack; at && !place.ruby; at = names.node(at).parent) {
        uint32_t number = shown.first(names.node(at).frame);
        const Frame &frame = names.frame(number);
        if (frame.library)
            place.leaf = place.leaf || is_missing ? place.leaf : number;
        else if (says_c_is_missing(names, frame))
            is_missing = true;
        else
            place.ruby = number;
    }
    return place;
}

} // namespace

std::vector<Site> sites(const Names &names, const Shown &shown, const std::vector<Analysis::Context> &contexts) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>, size_t> numbers;
    std::vector<Site> sites;
    for (const Analysis::Context &context : contexts) {
        Place place = place_of(names, shown, context.stack);
        auto [found, is_new] =
            numbers.try_emplace({place.ruby, place.leaf, context.thread, context.tag, context.klass}, sites.size());
        if (is_new) sites.push_back({place.ruby, place.leaf, context.thread, context.tag, context.klass, {}});
        sites[found->second].sums.add(context.sums);
    }
    return sites;
}

} // namespace capture
} // namespace heapline
