/* SPDX-License-Identifier: MIT */
/*
 * The first program of the emulated machine (aarch64_machine.rb): loads what the kernel needs for its disks, goes into
 * the root that lies on the one, and runs the script there, which finds its task on the other.
 */
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void load(const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "/modules/%s.ko", name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && syscall(SYS_finit_module, fd, "", 0)) perror(path);
    if (fd >= 0) close(fd);
}

/* Programs talk to themselves over the network. */
static void begin_network(void) {
    struct ifreq loopback = {.ifr_name = "lo"};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    loopback.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &loopback)) perror("lo");
    close(fd);
}

int main(void) {
    static const char *const modules[] = {"virtio_mmio", "virtio_blk", "crc32c_generic", "crc16", "mbcache",
                                          "jbd2",        "ext4"};
    mount("dev", "/dev", "devtmpfs", 0, "");
    for (unsigned i = 0; i < sizeof(modules) / sizeof(*modules); i++) load(modules[i]);
    for (int i = 0; i < 100 && mount("/dev/vda", "/root", "ext4", 0, ""); i++) usleep(100000);
    mount("/dev", "/root/dev", NULL, MS_MOVE, NULL);
    if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/")) perror("root");
    mkdir("/dev/shm", 01777);
    mkdir("/dev/pts", 0755);
    mount("proc", "/proc", "proc", 0, "");
    mount("sys", "/sys", "sysfs", 0, "");
    mount("shm", "/dev/shm", "tmpfs", 0, "mode=1777");
    mount("pts", "/dev/pts", "devpts", 0, "");
    mount("tmp", "/tmp", "tmpfs", 0, "mode=1777");
    begin_network();
    execl("/bin/sh", "sh", "/dev/vdb", NULL);
    perror("/dev/vdb");
    return 1;
}
