#define _GNU_SOURCE
#include "CFaults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { call_limit = 8192 };

static _Thread_local struct {
    int is_armed;
    long index, times, count;
    int error, part;
} plan;
static _Thread_local unsigned char *calls;
static _Thread_local unsigned char call_table[call_limit];

void fault_arm(long index, int error, long times, int part) {
    calls = call_table;
    plan.index = index;
    plan.error = error;
    plan.times = times;
    plan.part = part;
    plan.count = 0;
    plan.is_armed = 1;
}

long fault_disarm(void) {
    plan.is_armed = 0;
    return plan.count;
}

int fault_call_at(long index) {
    return index >= 0 && index < plan.count && index < call_limit ? call_table[index] : -1;
}

// Counts a call. 0: it happens; 1: it fails, errno is set; 2: it is cut short.
static int failing(enum fault_call call) {
    if (!plan.is_armed) return 0;
    long index = plan.count++;
    if (index < call_limit) calls[index] = (unsigned char)call;
    if (plan.index < 0 || index < plan.index
        || (plan.times > 0 && index >= plan.index + plan.times))
        return 0;
    if (plan.part != fault_whole)
        return call == fault_read || call == fault_write || call == fault_write_durably ? 2 : 0;
    errno = plan.error;
    return 1;
}

static size_t part_of(size_t count) {
    switch (plan.part) {
    case fault_nothing:
        return 0;
    case fault_one_byte:
        return count < 1 ? count : 1;
    default:
        return count > 1 ? count - 1 : count;
    }
}

typedef long (*system_call)(long, ...);

static long real(long number, long a, long b, long c, long d, long e, long f) {
    static system_call next;
    if (!next) next = (system_call)dlsym(RTLD_NEXT, "syscall");
    return next(number, a, b, c, d, e, f);
}

static ssize_t moved(
    enum fault_call call, long number, int fd, long bytes, size_t count, off_t offset) {
    int failure = failing(call);
    if (failure == 1) return -1;
    if (failure == 2) count = part_of(count);
    return count == 0 ? 0 : real(number, fd, bytes, (long)count, offset, 0, 0);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    return moved(fault_read, SYS_pread64, fd, (long)bytes, count, offset);
}
ssize_t pread64(int fd, void *bytes, size_t count, off_t offset) {
    return moved(fault_read, SYS_pread64, fd, (long)bytes, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return moved(fault_write, SYS_pwrite64, fd, (long)bytes, count, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    return moved(fault_write, SYS_pwrite64, fd, (long)bytes, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
    int failure = failing(fault_write);
    if (failure == 1) return -1;
    if (failure == 2) {
        struct iovec first = {
            .iov_base = pieces[0].iov_base, .iov_len = part_of(pieces[0].iov_len)};
        return first.iov_len == 0 ? 0 : real(SYS_pwritev, fd, (long)&first, 1, offset, 0, 0);
    }
    return real(SYS_pwritev, fd, (long)pieces, count, offset, 0, 0);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    unsigned mode = va_arg(rest, unsigned);
    va_end(rest);
    return failing(fault_open) ? -1
                               : (int)real(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

int fdatasync(int fd) {
    return failing(fault_sync) ? -1 : (int)real(SYS_fdatasync, fd, 0, 0, 0, 0, 0);
}
int fsync(int fd) {
    return failing(fault_sync) ? -1 : (int)real(SYS_fsync, fd, 0, 0, 0, 0, 0);
}
int ftruncate(int fd, off_t size) {
    return failing(fault_truncate) ? -1 : (int)real(SYS_ftruncate, fd, size, 0, 0, 0, 0);
}
int unlink(const char *path) {
    return failing(fault_name) ? -1 : (int)real(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

int link(const char *from, const char *to) {
    return failing(fault_name)
               ? -1
               : (int)real(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
}

void *mmap(void *address, size_t count, int protection, int flags, int fd, off_t offset) {
    if (failing(fault_map)) return MAP_FAILED;
    return (void *)real(SYS_mmap, (long)address, (long)count, protection, flags, fd, offset);
}

int mprotect(void *address, size_t count, int protection) {
    return failing(fault_map)
               ? -1
               : (int)real(SYS_mprotect, (long)address, (long)count, protection, 0, 0, 0);
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    enum { find_lock = 36, set_lock = 37, set_lock_waiting = 38 };
    if (command >= find_lock && command <= set_lock_waiting && failing(fault_lock)) return -1;
    return (int)real(SYS_fcntl, fd, command, argument, 0, 0, 0);
}

long syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long),
         d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
    va_end(rest);
    int failure = 0;
    switch (number) {
    case SYS_pwritev2:
        failure = failing(fault_write_durably);
        if (failure == 2) {
            const struct iovec *whole = (const struct iovec *)b;
            struct iovec first = {.iov_base = whole->iov_base, .iov_len = part_of(whole->iov_len)};
            return first.iov_len == 0 ? 0 : real(number, a, (long)&first, c, d, e, f);
        }
        break;
    case SYS_fallocate:
        failure = failing(fault_grow);
        break;
    case SYS_sync_file_range:
        failure = failing(fault_write_out);
        break;
    case SYS_statx:
        failure = failing(fault_status);
        break;
    case SYS_renameat2:
        failure = failing(fault_name);
        break;
    }
    return failure ? -1 : real(number, a, b, c, d, e, f);
}
