// Declarations that Linux has and `import Glibc` does not show, with inline wrappers and no logic.
//
// The wrappers exist for three reasons: the call is variadic (fcntl, open, syscall: each argument
// of the last is a whole word, as the kernel reads 64 bits of it), the C library hides it behind
// _GNU_SOURCE (which a module's header cannot switch on for headers that another module owns), or
// errno has to be taken before anything else can run. Each returns what the kernel does: a result
// >= 0, or -errno.

#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define PLATFORM_RESULT(call)                                                                      \
    ({                                                                                             \
        __typeof__(call) result_ = (call);                                                         \
        result_ < 0 ? -(__typeof__(call))errno : result_;                                          \
    })

// Opening and naming

/// Moves a descriptor above 2, closed at an exec: if standard output or error is closed, a
/// program's prints must not get into the file.
static inline int platform_above_standard(int fd) {
    if (fd < 0 || fd > 2) return fd;
    int result = PLATFORM_RESULT(fcntl(fd, F_DUPFD_CLOEXEC, 3));
    close(fd);
    return result;
}

static inline int platform_open(const char *path, int flags, unsigned int mode) {
    int result;
    do result = PLATFORM_RESULT(open(path, flags, mode));
    while (result == -EINTR);
    return platform_above_standard(result);
}

static inline int platform_close(int fd) {
    return PLATFORM_RESULT(close(fd));
}

/// A second description of the file behind `fd` that bypasses the page cache.
static inline int platform_reopen_direct(int fd) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return platform_above_standard(PLATFORM_RESULT(open(path, O_RDONLY | O_CLOEXEC | __O_DIRECT)));
}

/// A second description of the file behind `fd`, for reading, or for writing as well.
static inline int platform_reopen(int fd, int for_writing) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int flags = (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    return platform_above_standard(PLATFORM_RESULT(open(path, flags)));
}

/// The position of a description, at which `read` and `write` would begin; or -errno.
static inline int64_t platform_position(int fd) {
    return PLATFORM_RESULT(lseek(fd, 0, SEEK_CUR));
}
static inline int64_t platform_set_position(int fd, int64_t position) {
    return PLATFORM_RESULT(lseek(fd, position, SEEK_SET));
}

/// A number from 1 to 64 that a description of any kind keeps: the signal that it would send on
/// request. Other descriptions have 0.
static inline int platform_mark(int fd) {
    const int get_signal = 11; // F_GETSIG
    return PLATFORM_RESULT(fcntl(fd, get_signal));
}
static inline int platform_set_mark(int fd, int mark) {
    const int set_signal = 10; // F_SETSIG
    return PLATFORM_RESULT(fcntl(fd, set_signal, mark));
}

/// Renames unless `to` exists (-EEXIST). -EINVAL and -ENOSYS: the file system cannot.
static inline int platform_rename(const char *from, const char *to) {
    return PLATFORM_RESULT(rename(from, to));
}
static inline int platform_rename_exclusive(const char *from, const char *to) {
    const long no_replace = 1; // RENAME_NOREPLACE
    return (int)PLATFORM_RESULT(
        syscall(SYS_renameat2, (long)AT_FDCWD, from, (long)AT_FDCWD, to, no_replace));
}

static inline int platform_link(const char *from, const char *to) {
    return PLATFORM_RESULT(link(from, to));
}
static inline int platform_unlink(const char *path) {
    return PLATFORM_RESULT(unlink(path));
}

/// A file's status without its times: asking Linux 6.13 or later for them makes the next write
/// store new ones, and a durable write then takes 40 us longer (on ext4).
static inline int platform_stat_without_times(
    int fd, const char *path, int flags, struct stat *out) {
    const unsigned long wanted =
        STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_INO | STATX_SIZE;
    struct statx found;
    if (syscall(SYS_statx, (long)fd, path, (long)flags, wanted, &found) < 0) return -errno;
    memset(out, 0, sizeof *out);
    out->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
    out->st_ino = found.stx_ino;
    out->st_mode = found.stx_mode;
    out->st_nlink = found.stx_nlink;
    out->st_uid = found.stx_uid;
    out->st_gid = found.stx_gid;
    out->st_size = (off_t)found.stx_size;
    return 0;
}

static inline int platform_fstat(int fd, struct stat *out) {
    const int empty_path = 0x1000; // AT_EMPTY_PATH
    int result = platform_stat_without_times(fd, "", empty_path, out);
    return result == -ENOSYS || result == -EPERM ? PLATFORM_RESULT(fstat(fd, out)) : result;
}
static inline int platform_stat(const char *path, struct stat *out) {
    int result = platform_stat_without_times(AT_FDCWD, path, 0, out);
    return result == -ENOSYS || result == -EPERM ? PLATFORM_RESULT(stat(path, out)) : result;
}
static inline ssize_t platform_readlink(const char *path, char *out, size_t size) {
    return PLATFORM_RESULT(readlink(path, out, size));
}
static inline int platform_fchmod(int fd, unsigned int mode) {
    return PLATFORM_RESULT(fchmod(fd, mode));
}
static inline int platform_fchown(int fd, unsigned int user, unsigned int group) {
    return PLATFORM_RESULT(fchown(fd, user, group));
}
static inline int platform_access(const char *path, int mode) {
    return PLATFORM_RESULT(access(path, mode));
}

/// The magic number of the file system that holds `fd`, or -errno.
static inline int64_t platform_file_system_magic(int fd) {
    struct statfs information;
    return fstatfs(fd, &information) < 0 ? -(int64_t)errno : (int64_t)(uint32_t)information.f_type;
}

/// Whether the file system that holds `fd` is mounted so that nothing can be written.
static inline int platform_is_mounted_read_only(int fd) {
    const long read_only = 1; // ST_RDONLY
    struct statfs information;
    return fstatfs(fd, &information) == 0 && (information.f_flags & read_only) != 0;
}

// Extended attributes, among them access control lists.

static inline ssize_t platform_list_attributes(const char *path, char *names, size_t size) {
    return (ssize_t)PLATFORM_RESULT(syscall(SYS_listxattr, path, names, size));
}
static inline ssize_t platform_attribute_at(
    const char *path, const char *name, void *value, size_t size) {
    return (ssize_t)PLATFORM_RESULT(syscall(SYS_getxattr, path, name, value, size));
}
static inline ssize_t platform_attribute(int fd, const char *name, void *value, size_t size) {
    return (ssize_t)PLATFORM_RESULT(syscall(SYS_fgetxattr, (long)fd, name, value, size));
}
static inline int platform_set_attribute(int fd, const char *name, const void *value, size_t size) {
    return (int)PLATFORM_RESULT(syscall(SYS_fsetxattr, (long)fd, name, value, size, 0L));
}
static inline int platform_remove_attribute(int fd, const char *name) {
    return (int)PLATFORM_RESULT(syscall(SYS_fremovexattr, (long)fd, name));
}

/// A file that is memory and has no name in any directory.
static inline int platform_memory_file(const char *name) {
    const long close_on_exec = 1; // MFD_CLOEXEC
    return (int)PLATFORM_RESULT(syscall(SYS_memfd_create, name, close_on_exec));
}

// Reading and writing

static inline ssize_t platform_pread(int fd, void *bytes, size_t count, int64_t offset) {
    return PLATFORM_RESULT(pread(fd, bytes, count, offset));
}

static inline ssize_t platform_pwrite(int fd, const void *bytes, size_t count, int64_t offset) {
    return PLATFORM_RESULT(pwrite(fd, bytes, count, offset));
}

/// Writes several pieces, at most 1,024, one after the other.
static inline ssize_t platform_pwritev(
    int fd, const struct iovec *pieces, int count, int64_t offset) {
    return PLATFORM_RESULT(pwritev(fd, pieces, count, offset));
}

/// A write that is durable when it returns (RWF_DSYNC). -EOPNOTSUPP and -ENOSYS: the kernel cannot.
static inline ssize_t platform_pwrite_durably(
    int fd, const void *bytes, size_t count, int64_t offset) {
    const long dsync = 2; // RWF_DSYNC
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    return (ssize_t)PLATFORM_RESULT(
        syscall(SYS_pwritev2, (long)fd, &piece, 1L, (long)offset, 0L, dsync));
}

// Begins to write a range out and waits for it; not a sync.
static inline int platform_write_out(int fd, int64_t offset, int64_t count) {
    const long wait_before = 1, write = 2, wait_after = 4;
    return (int)PLATFORM_RESULT(syscall(SYS_sync_file_range, (long)fd, (long)offset, (long)count,
        wait_before | write | wait_after));
}
static inline int platform_data_sync(int fd) {
    return PLATFORM_RESULT(fdatasync(fd));
}
static inline int platform_sync(int fd) {
    return PLATFORM_RESULT(fsync(fd));
}
static inline int platform_truncate(int fd, int64_t size) {
    return PLATFORM_RESULT(ftruncate(fd, size));
}

/// Allocates blocks for a range and extends the file to its end. -EOPNOTSUPP: the file system
/// cannot.
static inline int platform_allocate(int fd, int64_t offset, int64_t count) {
    return (int)PLATFORM_RESULT(syscall(SYS_fallocate, (long)fd, 0L, (long)offset, (long)count));
}

/// Frees the blocks of a range; it reads as zeros afterwards.
static inline int platform_punch_hole(int fd, int64_t offset, int64_t count) {
    const long keep_size = 1, punch_hole = 2; // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE
    return (int)PLATFORM_RESULT(
        syscall(SYS_fallocate, (long)fd, keep_size | punch_hole, (long)offset, (long)count));
}

/// Asks the kernel to forget cached pages of a range.
static inline int platform_drop_cache(int fd, int64_t offset, int64_t count) {
    return -posix_fadvise(fd, offset, count, POSIX_FADV_DONTNEED);
}

/// The largest file this process may write.
static inline uint64_t platform_file_size_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : (uint64_t)limit.rlim_cur;
}

// Locks of open file descriptions: they belong to the description, survive the closing of others
// and end with it.

enum {
    platform_lock_shared = F_RDLCK,
    platform_lock_exclusive = F_WRLCK,
    platform_lock_none = F_UNLCK
};

/// Takes, converts or releases a lock without waiting: 0, -EAGAIN if another description holds it,
/// or another -errno.
static inline int platform_lock(int fd, int kind, int64_t start, int64_t count) {
    const int set_lock = 37; // F_OFD_SETLK
    struct flock lock = {
        .l_type = (short)kind, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    int result;
    do result = fcntl(fd, set_lock, &lock) < 0 ? -errno : 0;
    while (result == -EINTR);
    return result == -EACCES ? -EAGAIN : result;
}

/// Waits for the lock without a limit: 0, -EINTR or another -errno.
static inline int platform_lock_waiting(int fd, int kind, int64_t start, int64_t count) {
    const int set_lock_waiting = 38; // F_OFD_SETLKW
    struct flock lock = {
        .l_type = (short)kind, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    return fcntl(fd, set_lock_waiting, &lock) < 0 ? -errno : 0;
}

/// The kind of a lock that another description holds within a range, and where; or
/// platform_lock_none, or -errno.
static inline int platform_find_lock(
    int fd, int64_t start, int64_t count, int64_t *found_start, int64_t *found_count) {
    const int get_lock = 36; // F_OFD_GETLK
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    int result;
    do result = fcntl(fd, get_lock, &lock) < 0 ? -errno : 0;
    while (result == -EINTR);
    if (result < 0) return result;
    *found_start = lock.l_start;
    *found_count = lock.l_len;
    return lock.l_type;
}

// Memory

/// Address space without memory: any access faults.
static inline void *platform_reserve(size_t count) {
    void *base = mmap(NULL, count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/// Puts a part of a file, to be read in random order, into reserved address space.
static inline int platform_map_reading(int fd, void *address, size_t count, int64_t offset) {
    if (mmap(address, count, PROT_READ, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
        return -errno;
    madvise(address, count, MADV_RANDOM);
    return 0;
}

/// Reads a mapped range into memory (Linux 5.14). -EFAULT: an access would have raised SIGBUS.
/// -EINVAL: the kernel cannot.
static inline int platform_populate_reading(const void *address, size_t count) {
    const int populate_read = 22; // MADV_POPULATE_READ
    return PLATFORM_RESULT(madvise((void *)address, count, populate_read));
}

/// Begins to read a mapped range from the disk, all at once.
static inline void platform_read_ahead(const void *address, size_t count) {
    madvise((void *)address, count, MADV_WILLNEED);
}

/// Gives private memory back; it reads as zeros afterwards.
static inline void platform_discard_memory(void *address, size_t count) {
    madvise(address, count, MADV_DONTNEED);
}

/// Sparsely used memory must not come in pages of 2 MiB.
static inline void platform_refuse_huge_pages(void *address, size_t count) {
    const int no_huge_pages = 15; // MADV_NOHUGEPAGE
    madvise(address, count, no_huge_pages);
}

/// Makes 2 MiB of private memory one page of the machine and keeps its contents; -errno if the
/// kernel can't: before Linux 6.1, or without such a page.
static inline int platform_make_huge_page(void *address, size_t count) {
    const int huge_pages = 14; // MADV_HUGEPAGE
    const int collapse = 25;   // MADV_COLLAPSE
    madvise(address, count, huge_pages);
    const int result = PLATFORM_RESULT(madvise(address, count, collapse));
    // Memory that is used again after a discard comes in small pages.
    platform_refuse_huge_pages(address, count);
    return result;
}

/// Turns reserved address space into zeroed memory.
static inline int platform_commit_memory(void *address, size_t count) {
    return PLATFORM_RESULT(mprotect(address, count, PROT_READ | PROT_WRITE));
}

/// A file as memory that processes share; NULL and *error on failure.
static inline void *platform_map_shared(int fd, size_t count, int *error) {
    void *base = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *error = base == MAP_FAILED ? errno : 0;
    return base == MAP_FAILED ? NULL : base;
}

/// A page of a file that nobody can touch, and that a forked child does not get: as long as it is
/// there the description is open, whoever closes its descriptors. NULL if the system cannot map
/// one.
static inline void *platform_map_anchor(int fd) {
    const size_t count = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, count, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (page == MAP_FAILED) return NULL;
    if (madvise(page, count, MADV_DONTFORK) == 0) return page;
    munmap(page, count);
    return NULL;
}

/// Puts memory with other bytes in the place of some pages of memory, all at once.
static inline int platform_replace_memory(void *memory, void *place, size_t count) {
    const int may_move = 1, fixed = 2; // MREMAP_MAYMOVE, MREMAP_FIXED
    return (void *)syscall(SYS_mremap, memory, count, count, (long)(may_move | fixed), place)
                   == MAP_FAILED
               ? -errno
               : 0;
}

static inline int platform_unmap(void *address, size_t count) {
    return PLATFORM_RESULT(munmap(address, count));
}

/// Zeroed memory that takes room only as it is touched; NULL if memory is exhausted.
static inline void *platform_map_zeroed(size_t count) {
    void *base = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/// Zeroed memory that a forked child finds zeroed again; NULL if the kernel lacks it.
static inline void *platform_map_wiped_on_fork(size_t count) {
    const int wipe_on_fork = 18; // MADV_WIPEONFORK
    void *base = platform_map_zeroed(count);
    if (base == NULL) return NULL;
    if (madvise(base, count, wipe_on_fork) == 0) return base;
    munmap(base, count);
    return NULL;
}

static inline size_t platform_memory_page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/// Number of processors that the calling thread may run on; 1 if the kernel does not say.
static inline int platform_processor_count(void) {
    unsigned long mask[128] = {0}; // 8,192 processors
    long bytes = syscall(SYS_sched_getaffinity, 0L, sizeof mask, mask);
    int count = 0;
    for (long word = 0; word < bytes / (long)sizeof *mask; word++)
        count += __builtin_popcountl(mask[word]);
    return count > 0 ? count : 1;
}

// Waiting and waking

/// Sleeps while *word == expected, at most `nanoseconds` (negative: without a limit): 0 when woken,
/// -EAGAIN, -EINTR, -ETIMEDOUT.
static inline int platform_futex_wait(
    const void *word, uint32_t expected, int64_t nanoseconds, int is_private) {
    const long wait = 0, private_flag = 128; // FUTEX_WAIT, FUTEX_PRIVATE_FLAG
    struct timespec timeout = {
        .tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return (int)PLATFORM_RESULT(syscall(SYS_futex, word, wait | (is_private ? private_flag : 0),
        (long)expected, nanoseconds < 0 ? NULL : &timeout, NULL, 0L));
}

/// Wakes at most `count` sleepers.
static inline int platform_futex_wake(const void *word, int count, int is_private) {
    const long wake = 1, private_flag = 128; // FUTEX_WAKE, FUTEX_PRIVATE_FLAG
    return (int)PLATFORM_RESULT(syscall(
        SYS_futex, word, wake | (is_private ? private_flag : 0), (long)count, NULL, NULL, 0L));
}

/// Whether the kernel can make the other threads of the process pass a memory barrier
/// (Linux 4.14).
static inline int platform_can_fence_all_threads(void) {
    const long query = 0, private_expedited = 8; // MEMBARRIER_CMD_...
    const long commands = syscall(SYS_membarrier, query, 0L, 0L);
    return commands > 0 && (commands & private_expedited) != 0;
}

/// Makes every other thread of the process pass a full memory barrier before it returns: 0 or
/// -errno.
static inline int platform_fence_all_threads(void) {
    const long private_expedited = 8, register_private_expedited = 16; // MEMBARRIER_CMD_...
    int result = PLATFORM_RESULT(syscall(SYS_membarrier, private_expedited, 0L, 0L));
    if (result != -EPERM) return result;
    result = PLATFORM_RESULT(syscall(SYS_membarrier, register_private_expedited, 0L, 0L));
    return result < 0 ? result
                      : (int)PLATFORM_RESULT(syscall(SYS_membarrier, private_expedited, 0L, 0L));
}

/// Keeps the compiler from moving loads and stores across.
static inline void platform_compiler_fence(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/// A pollable flag.
static inline int platform_eventfd(void) {
    const long nonblocking = O_NONBLOCK, close_on_exec = O_CLOEXEC; // EFD_NONBLOCK, EFD_CLOEXEC
    return (int)PLATFORM_RESULT(syscall(SYS_eventfd2, 0L, nonblocking | close_on_exec));
}

static inline ssize_t platform_read(int fd, void *bytes, size_t count) {
    return PLATFORM_RESULT(read(fd, bytes, count));
}
static inline ssize_t platform_write(int fd, const void *bytes, size_t count) {
    return PLATFORM_RESULT(write(fd, bytes, count));
}
static inline int platform_poll_reading(int fd, int timeout_milliseconds) {
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    return PLATFORM_RESULT(poll(&entry, 1, timeout_milliseconds));
}

// Clocks, chance, processes, threads

static inline int64_t platform_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline ssize_t platform_random(void *bytes, size_t count) {
    return (ssize_t)PLATFORM_RESULT(syscall(SYS_getrandom, bytes, count, 0L));
}

static inline int platform_signal_probe(int pid) {
    return PLATFORM_RESULT(kill(pid, 0));
}

/// Before a fork, and after it in the parent and in the child: 0 or -errno.
static inline int platform_at_fork(
    void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    return -pthread_atfork(before, in_parent, in_child);
}

/// A thread that no signal reaches: they are blocked before it exists, and the caller's mask is
/// restored. 0 or -errno.
static inline int platform_start_thread(
    pthread_t *thread, size_t stack_size, void *(*body)(void *), void *context) {
    sigset_t all, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return -error;
    pthread_attr_setstacksize(&attributes, stack_size);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

/// The stack of the calling thread: its lowest address and its size. 0 or -errno.
static inline int platform_thread_stack(uintptr_t *lowest, size_t *size) {
    // Hidden behind _GNU_SOURCE.
    int pthread_getattr_np(pthread_t, pthread_attr_t *);
    pthread_attr_t attributes;
    void *address = NULL;
    int error = pthread_getattr_np(pthread_self(), &attributes);
    if (error != 0) return -error;
    error = pthread_attr_getstack(&attributes, &address, size);
    pthread_attr_destroy(&attributes);
    *lowest = (uintptr_t)address;
    return -error;
}

/// An address in the present frame of the stack.
static inline uintptr_t platform_stack_position(void) {
    return (uintptr_t)__builtin_frame_address(0);
}

/// Names the calling thread, for debuggers.
static inline void platform_name_thread(const char *name) {
    const long set_name = 15; // PR_SET_NAME
    syscall(SYS_prctl, set_name, name, 0L, 0L, 0L);
}

/// Asks for a cache line that will be read soon. Any address will do.
static inline void platform_prefetch(const void *address) {
    __builtin_prefetch(address);
}

typedef unsigned char platform_bytes __attribute__((ext_vector_type(16)));
typedef unsigned long long platform_words __attribute__((ext_vector_type(2)));

/// The highest bit of each of 16 bytes, that of the first lowest.
static inline unsigned long long platform_high_bits_of_bytes(platform_bytes bytes) {
#ifdef __SSE2__
    typedef char bytes_in __attribute__((vector_size(16)));
    return (unsigned long long)__builtin_ia32_pmovmskb128((bytes_in)bytes);
#else
    // Each bit moves to its place in the highest byte.
    const platform_words halves = (platform_words)(bytes >> 7);
    const unsigned long long places = 0x0102040810204080;
    return (halves[0] * places) >> 56 | (halves[1] * places) >> 56 << 8;
#endif
}

/// The highest bit of each of two words, that of the first lowest.
static inline unsigned long long platform_high_bits_of_words(platform_words words) {
#ifdef __SSE2__
    typedef double words_in __attribute__((vector_size(16)));
    return (unsigned long long)__builtin_ia32_movmskpd((words_in)words);
#else
    return words[0] >> 63 | words[1] >> 63 << 1;
#endif
}

// The Swift runtime

extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);

/// Memory for an instance of a Swift class, with a header that counts one reference. The compiler
/// reserves the runtime's name in Swift.
static inline void *platform_allocate_object(
    const void *metadata, size_t size, size_t alignment_mask) {
    return swift_allocObject(metadata, size, alignment_mask);
}

// Standard output

/// Writes what the C library keeps of standard output, unless another thread is printing.
static inline void platform_flush_output(void) {
    if (ftrylockfile(stdout) != 0) return;
    fflush(stdout);
    funlockfile(stdout);
}

#endif
