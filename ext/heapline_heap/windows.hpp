/* SPDX-License-Identifier: MIT */
/*
 * A source in windows of whole lines, numbered, for several threads: one reads (and unpacks) its next window while the
 * others scan theirs. A line that two windows would share goes to the second.
 */
#ifndef HEAPLINE_HEAP_WINDOWS_HPP
#define HEAPLINE_HEAP_WINDOWS_HPP

#include <mutex>

#include "column.hpp"
#include "source.hpp"

namespace heapline {

struct Window {
    Column<char> bytes; /* with padding behind them */
    size_t size = 0;
    uint64_t number = 0;
    bool overlong = false; /* does a line follow that is too long and was passed over? */
    bool endless = false;  /* of which no end came: nothing behind it is read */
    bool cut = false;      /* has the last line no line end? */
};

class Windows {
  public:
    static const size_t SIZE = size_t{4} << 20;
    static const size_t LONGEST = size_t{256} << 20; /* a line that is longer counts as damaged */

    static const uint64_t NOTHING_MOST = uint64_t{1} << 30; /* bytes without a line: there may be no end */

    explicit Windows(Source &source, size_t size, size_t longest = LONGEST)
        : source_(source), size_(size), longest_(longest) {}

    /* The next window, in place of what is in `window`; false: there is none. Any thread. */
    bool next(Window &window);

  private:
    bool fill(Window &window);
    bool complete(Window &window, size_t filled);
    void pass_over(Window &window);

    Source &source_;
    const size_t size_, longest_;
    std::mutex mutex_;
    Column<char> carried_; /* the beginning of a line whose end was not read yet */
    uint64_t number_ = 0;
    bool ended_ = false;
};

} // namespace heapline

#endif
