/* SPDX-License-Identifier: MIT */
#include "shown.hpp"

namespace heapline {
namespace capture {

namespace {

struct FrameHash {
    size_t operator()(const Frame &frame) const {
        uint64_t hash = 0;
        for (uint64_t value :
             {uint64_t{frame.label}, uint64_t{frame.path}, uint64_t{frame.line}, uint64_t{frame.library}, frame.offset})
            hash = (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        return hash;
    }
};

struct FrameEqual {
    bool operator()(const Frame &a, const Frame &b) const {
        return a.label == b.label && a.path == b.path && a.line == b.line && a.library == b.library &&
               a.offset == b.offset;
    }
};

} // namespace

Shown::Shown(const Names &names) {
    std::unordered_map<Frame, uint32_t, FrameHash, FrameEqual> firsts;
    for (uint32_t frame = 0; frame < names.frames(); frame++)
        firsts_.push_back(firsts.try_emplace(names.frame(frame), frame).first->second);
}

} // namespace capture
} // namespace heapline
