/* SPDX-License-Identifier: MIT */
/*
 * Which file a library was, so that later nobody takes names from another one of its path: its build id as linkers
 * write it, or, where it has none, its size and when it was changed last.
 */
#ifndef HEAPLINE_CAPTURE_IDENTITY_HPP
#define HEAPLINE_CAPTURE_IDENTITY_HPP

#include <string>

namespace heapline {
namespace capture {

/* "build 803542d9…", "file 18232 1700000000.123456789"; "" where there is no such file. What it reads is bounded,
 * whatever the file says. */
std::string identity(const std::string &path);

} // namespace capture
} // namespace heapline

#endif
