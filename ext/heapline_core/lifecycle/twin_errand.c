/* SPDX-License-Identifier: MIT */
#include "lifecycle/twin_errand.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/flight.h"
#include "heapline_core.h"
#include "platform/text.h"
#include "state/guard.h"
#include "vm/ruby_vm.h"

enum { PATH_BYTES = 4096, GC = 0x100, TASK = 0xff };

static heapline_twin_function *make_twin;

void hl_twin_fork(int ours) {
    hl_thread.twin = ours != 0;
}

static int refuse(const char *problem) {
    hl_text(hl_flight.header->twin.problem, sizeof(hl_flight.header->twin.problem), "%s", problem);
    return 0;
}

/* ---- the extension ---- */

#ifndef HL_RUBY_VERSION
#define HL_RUBY_VERSION "" /* the version that this gem was built for, "3.4"; extconf.rb knows it */
#endif

static int is_built_for_this_ruby(void) {
    const size_t length = strlen(HL_RUBY_VERSION);
    const char *running = hl_ruby.version;
    return length && running && strncmp(running, HL_RUBY_VERSION, length) == 0 && running[length] == '.';
}

static int path_beside(char *path, size_t size, const char *name) {
    Dl_info here;
    if (!dladdr((void *)hl_twin_errand, &here) || !here.dli_fname) return 0;
    const char *slash = strrchr(here.dli_fname, '/');
    const int length = slash ? (int)(slash - here.dli_fname) : 0;
    return length && !hl_fit(path, size, "%.*s/%s", length, here.dli_fname, name);
}

static int have_extension(void) {
    char path[PATH_BYTES];
    if (make_twin) return 1;
    if (!is_built_for_this_ruby())
        return refuse("heapline's extension was built for another Ruby: install the gem for the Ruby of the process");
    const int saved = hl_guard_enter(&hl_thread); /* what the mapping takes is heapline's own */
    void *extension = path_beside(path, sizeof(path), "native.so") ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (extension) *(void **)&make_twin = dlsym(extension, "heapline_twin");
    hl_guard_leave(&hl_thread, saved);
    return make_twin || refuse("heapline's extension native.so cannot be loaded from the directory of libheapline.so");
}

/* ---- the pipe ---- */

static int is_ours(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IRWXG | S_IRWXO));
}

/* Without waiting: there is a reader, or it has gone. */
static int open_pipe(uint32_t reader) {
    char path[PATH_BYTES], ending[32];
    hl_text(ending, sizeof(ending), ".%u.pipe", reader);
    if (hl_flight_neighbour(path, sizeof(path), ending)) return -1;
    const int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || is_ours(fd)) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* ---- the errand ---- */

static void answer(uint64_t asked) {
    struct hl_twin *twin = &hl_flight.header->twin;
    const int fd = open_pipe((uint32_t)asked);
    if (fd < 0) {
        refuse("the reader's pipe cannot be opened from inside the process: it has gone, or the process sees another "
               "file system (a container, chroot)");
        return;
    }
    if (have_extension()) {
        const char *problem = NULL;
        const struct heapline_twin_made made =
            make_twin((uint32_t)(asked >> 32) & TASK, fd, (asked >> 32 & GC) != 0, &twin->status, &problem);
        twin->pid = made.pid;
        twin->pause_ns = made.pause_ns;
        if (problem) refuse(problem);
    }
    close(fd);
}

void hl_twin_errand(void) {
    struct hl_twin *twin = &hl_flight.header->twin;
    const char *unused;
    const uint64_t asked = __atomic_exchange_n(&twin->asked, 0, __ATOMIC_ACQ_REL);
    if (!asked) {
        if (make_twin) make_twin(0, -1, 0, NULL, &unused); /* what is left of the last one goes */
        return;
    }
    twin->pid = 0;
    twin->problem[0] = 0;
    answer(asked);
    __atomic_store_n(&twin->answered_ns, hl_flight_now(), __ATOMIC_RELEASE);
}
