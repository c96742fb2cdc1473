/* SPDX-License-Identifier: MIT */
#include "visitor.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "machine.h"
#include "tracer.h"

enum { LINE_BYTES = 8192 };

/* ---- looking ---- */

static enum rbhl_visit of_error(int error) {
    return error == ESRCH || error == ENOENT ? RBHL_VISIT_GONE : RBHL_VISIT_FORBIDDEN;
}

/* RBHL_VISITED: its main thread waits in a system call. Without stopping it. */
static enum rbhl_visit look(pid_t pid) {
    char text[256];
    const ssize_t length = rbhl_read_proc(pid, "syscall", text, sizeof(text));
    const char state = rbhl_state_of(pid);
    if (state == 'T') return RBHL_VISIT_STOPPED;
    if (state != 'S') return state == 't' ? RBHL_VISIT_FORBIDDEN : state ? RBHL_VISIT_RUNS : RBHL_VISIT_GONE;
    if (length < 0) return of_error((int)-length);
    return text[0] >= '0' && text[0] <= '9' ? RBHL_VISITED : RBHL_VISIT_RUNS;
}

/* A line of /proc/PID/maps: does it map the core's code, with the door in it? */
static int holds(const char *line, const struct hl_visit_door *door) {
    static const char name[] = "/libheapline.so";
    char access[5];
    unsigned long begin, end;
    int path = 0;
    if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, access, &path) != 3 || !path) return 0;
    const char *base = strrchr(line + path, '/');
    return access[2] == 'x' && base && !strncmp(base, name, sizeof(name) - 1) && door->enter >= begin &&
           door->enter < door->end && door->end <= end;
}

/* The header may say anything: what lies there is the core's code, and begins as that place does. RBHL_VISITED, or why
 * not. */
static enum rbhl_visit check_door(pid_t pid, const struct hl_visit_door *door) {
    static const unsigned char beginning[] = HL_VISIT_BEGINNING;
    char path[64], line[LINE_BYTES], code[sizeof(beginning)];
    int found = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps) return of_error(errno);
    while (!found && fgets(line, sizeof(line), maps)) found = holds(line, door);
    fclose(maps);
    const struct iovec here = {code, sizeof(code)}, there = {(void *)(uintptr_t)door->enter, sizeof(code)};
    if (!found) return RBHL_VISIT_NO_DOOR;
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(code)) return of_error(errno);
    return memcmp(code, beginning, sizeof(code)) ? RBHL_VISIT_NO_DOOR : RBHL_VISITED;
}

/* ---- visiting ---- */

static int is_inside(const struct user_regs_struct *registers, const struct hl_visit_door *door) {
    return rbhl_pc(registers) - door->enter < door->end - door->enter ||
           rbhl_stack(registers) - door->stack <= door->stack_bytes;
}

/* The thread is stopped. */
static enum rbhl_visit enter(pid_t pid, const struct hl_visit_door *door) {
    struct user_regs_struct registers;
    const struct iovec here = {&registers, sizeof(registers)},
                       there = {(void *)(uintptr_t)door->registers, sizeof(registers)};
    if (rbhl_registers_read(pid, &registers)) return of_error(errno);
    if (rbhl_place(pid, &registers) != RBHL_WAITS || is_inside(&registers, door) || rbhl_has_signal(pid))
        return RBHL_VISIT_RUNS;
    rbhl_name_call(pid, &registers);
    if (hl_call_number(&registers) == SYS_restart_syscall && !rbhl_keeps_time(&registers)) return RBHL_VISIT_RUNS;
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(registers)) return RBHL_VISIT_NO_DOOR;
    rbhl_enter_function(&registers, door->enter, (door->stack + door->stack_bytes) & ~(uint64_t)63, 0);
    return rbhl_registers_write(pid, &registers) ? of_error(errno) : RBHL_VISITED;
}

struct visit {
    pid_t pid;
    const struct hl_visit_door *door;
};

static int visit(void *argument) {
    const struct visit *visit = argument;
    int status;
    const int failed = rbhl_trace_stop(visit->pid, &status);
    if (failed && failed != -EAGAIN) return (int)of_error(-failed);
    const enum rbhl_visit done = failed ? RBHL_VISIT_RUNS : enter(visit->pid, visit->door);
    rbhl_trace_let_go(visit->pid, status);
    return (int)done;
}

enum rbhl_visit rbhl_visit(pid_t pid, const struct hl_visit_door *door) {
    struct visit work = {pid, door};
    const enum rbhl_visit seen = look(pid);
    if (seen != RBHL_VISITED) return seen;
    const enum rbhl_visit checked = check_door(pid, door);
    if (checked != RBHL_VISITED) return checked;
    const int done = rbhl_trace(visit, &work);
    return done < 0 ? RBHL_VISIT_RUNS : (enum rbhl_visit)done;
}
