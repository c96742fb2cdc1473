/* SPDX-License-Identifier: MIT */
/* libFuzzer target over the reader of core files. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "../../ext/heapline_corefile/allocator.hpp"
#include "../../ext/heapline_corefile/glibc.hpp"
#include "../../ext/heapline_corefile/image.hpp"
#include "../../ext/heapline_corefile/jemalloc.hpp"
#include "../../ext/heapline_corefile/preload.hpp"
#include "../../ext/heapline_corefile/references.hpp"
#include "../../ext/heapline_corefile/ruby_heap.hpp"
#include "../../ext/heapline_corefile/spool.hpp"
#include "../../ext/heapline_heap/source.hpp"

using namespace heapline::corefile;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    /* The fuzzer of heap dumps is that of what unpacks, too; here it would only fill the disk. */
    if (!size || heapline::packing(reinterpret_cast<const char *>(data), size) != heapline::Packing::none) return 0;
    static const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int fd = memfd_create("core", 0);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) abort();
    try {
        const heapline::Job job;
        Image image("/proc/self/fd/" + std::to_string(fd), job);
        Allocators allocators(image, job);
        Preload preload(image);
        preload.add_up(job, allocators);
        RubyHeap heap(image, job, allocators);
        References references(image, job, allocators, heap, preload);
        references.leaks(job);
        references.write(nowhere, {}, true, job);
        uint64_t bytes = 0;
        for (const Preload::Live &live : preload.live()) bytes += live.bytes;
        if (bytes > size * 2) abort(); /* no byte is counted twice */
    } catch (const heapline::Failure &) {
    }
    close(fd);
    return 0;
}
