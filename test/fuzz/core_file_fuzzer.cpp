/* SPDX-License-Identifier: MIT */
/* libFuzzer target over the reader of core files. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "../../ext/heapline_corefile/allocator.hpp"
#include "../../ext/heapline_corefile/empty_pages.hpp"
#include "../../ext/heapline_corefile/glibc.hpp"
#include "../../ext/heapline_corefile/image.hpp"
#include "../../ext/heapline_corefile/jemalloc.hpp"
#include "../../ext/heapline_corefile/libraries.hpp"
#include "../../ext/heapline_corefile/preload.hpp"
#include "../../ext/heapline_corefile/references.hpp"
#include "../../ext/heapline_corefile/ruby_heap.hpp"
#include "../../ext/heapline_heap/source.hpp"
#include "../../ext/heapline_heap/spool.hpp"

using namespace heapline::corefile;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

namespace {

/* Another root, in which the core itself is the file of a program. */
struct Root {
    std::string path = "/tmp/heapline-fuzz-XXXXXX";
    int file;

    Root() {
        if (!mkdtemp(&path[0]) || mkdir((path + "/bin").c_str(), 0700)) abort();
        file = open((path + "/bin/program").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (file < 0 || symlink("../../bin/program", (path + "/program").c_str())) abort();
    }
    ~Root() {
        for (const char *name : {"/bin/program", "/program"}) unlink((path + name).c_str());
        for (const char *name : {"/bin", ""}) rmdir((path + name).c_str());
    }
};

void find(Libraries &libraries, const Image &image) {
    char byte;
    for (const char *path : {"program", "/bin/program", "/program"}) libraries.named(path);
    for (const Image::Mapping &mapping : image.mappings()) {
        libraries.named(mapping.path);
        libraries.read(mapping.begin, &byte, 1);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    /* The fuzzer of heap dumps is that of what unpacks, too; here it would only fill the disk. */
    if (!size || heapline::packing(reinterpret_cast<const char *>(data), size) != heapline::Packing::none) return 0;
    static const Root root;
    if (ftruncate(root.file, 0) || pwrite(root.file, data, size, 0) != static_cast<ssize_t>(size)) abort();
    static const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int fd = memfd_create("core", 0);
    if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) abort();
    try {
        const heapline::Job job;
        Image image("/proc/self/fd/" + std::to_string(fd), job);
        Allocators allocators(image, job);
        Preload preload(image);
        preload.add_up(job, allocators);
        Libraries libraries(image, {root.path, false});
        find(libraries, image);
        RubyHeap heap(image, job, allocators, libraries);
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
