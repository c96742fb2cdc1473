/* SPDX-License-Identifier: MIT */
#include "event.hpp"

namespace heapline {
namespace capture {

const char *function_of(Kind kind) {
    static const char *const names[KINDS] = {
        "",       "malloc", "calloc",  "realloc", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
        "new",    "mmap",   "realloc", "mremap",  "",         "realloc",       "mremap",         "free",   "delete",
        "munmap", "",       "free",    "munmap"};
    const char *name = names[static_cast<unsigned>(kind)];
    return name ? name : "";
}

} // namespace capture
} // namespace heapline
