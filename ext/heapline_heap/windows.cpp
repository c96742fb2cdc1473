/* SPDX-License-Identifier: MIT */
#include "windows.hpp"

#include <algorithm>
#include <cstring>

#include "line.hpp"

namespace heapline {

bool Windows::next(Window &window) {
    std::lock_guard<std::mutex> lock(mutex_);
    window.size = 0;
    window.overlong = window.cut = window.endless = false;
    if (ended_ || !fill(window)) return false;
    window.number = number_++;
    return true;
}

/* Reads until there is a whole line, or the source ends, or the line is too long. */
bool Windows::fill(Window &window) {
    size_t filled = carried_.size(), wanted = std::max(size_, 2 * filled);
    window.bytes.resize(wanted + LineParser::PADDING);
    if (filled) std::memcpy(window.bytes.data(), carried_.data(), filled);
    carried_.clear();
    for (;;) {
        size_t got = source_.read(window.bytes.data() + filled, wanted - filled);
        filled += got;
        if (filled < wanted) ended_ = true;
        if (complete(window, filled)) return filled > 0;
        /* What does not begin as a line of a dump is not gathered up first. */
        if (filled > (window.bytes.data()[0] == '{' ? longest_ : size_)) {
            pass_over(window);
            return true;
        }
        wanted *= 2;
        window.bytes.resize(wanted + LineParser::PADDING);
    }
}

/* Is there anything to scan? What lies behind the last line end is carried to the next window. */
bool Windows::complete(Window &window, size_t filled) {
    char *bytes = window.bytes.data();
    if (ended_) {
        window.size = filled;
        window.cut = filled && bytes[filled - 1] != '\n';
        return true;
    }
    const void *last = memrchr(bytes, '\n', filled);
    if (!last) return false;
    window.size = static_cast<size_t>(static_cast<const char *>(last) - bytes) + 1;
    carried_.append(bytes + window.size, filled - window.size);
    return true;
}

/* The window is one unfinished line: drop it, and what follows until its end. */
void Windows::pass_over(Window &window) {
    window.overlong = true;
    for (uint64_t passed = 0; passed < NOTHING_MOST;) {
        size_t got = source_.read(window.bytes.data(), size_);
        passed += got;
        const void *end = memchr(window.bytes.data(), '\n', got);
        if (end) {
            size_t behind = static_cast<size_t>(static_cast<const char *>(end) - window.bytes.data()) + 1;
            carried_.append(window.bytes.data() + behind, got - behind);
            return;
        }
        if (got < size_) {
            ended_ = true;
            return;
        }
    }
    window.endless = true;
    ended_ = true;
}

} // namespace heapline
