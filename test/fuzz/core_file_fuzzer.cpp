/* SPDX-License-Identifier: MIT */
/* libFuzzer target over the reader of core files. */
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "../../ext/heapline_corefile/glibc.hpp"
#include "../../ext/heapline_corefile/image.hpp"
#include "../../ext/heapline_corefile/preload.hpp"

using namespace heapline::corefile;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    const int fd = memfd_create("core", 0);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) abort();
    try {
        Image image("/proc/self/fd/" + std::to_string(fd));
        Glibc glibc(image);
        Preload preload(image);
        preload.add_up(heapline::Job(), glibc);
        uint64_t bytes = 0;
        for (const Preload::Live &live : preload.live()) bytes += live.bytes;
        if (bytes > size * 2) abort(); /* no byte is counted twice */
    } catch (const heapline::Failure &) {
    }
    close(fd);
    return 0;
}
