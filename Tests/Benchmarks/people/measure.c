#include "measure.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *obtain(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (!memory) fail("no memory for %zu bytes", size);
    return memory;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double percentile(double *values, size_t count, double part) {
    qsort(values, count, sizeof *values, compare);
    size_t index = (size_t)((double)count * part);
    if (part == 0.5 && count % 2 == 0) return (values[count / 2 - 1] + values[count / 2]) / 2;
    return values[index < count ? index : count - 1];
}

/* The files of engines beside a database. */
static const char *const companions[] = {"", "-wal", "-shm", "-lock", ".lock"};

static const char *companion(const char *path, size_t index) {
    static char name[4096];
    snprintf(name, sizeof name, "%s%s", path, companions[index]);
    return name;
}

double file_size(const char *path) {
    double size = 0;
    struct stat status;
    for (size_t index = 0; index < 2; index++)
        if (!stat(companion(path, index), &status)) size += (double)status.st_size;
    return size;
}

void remove_files(const char *path) {
    for (size_t index = 0; index < sizeof companions / sizeof *companions; index++)
        unlink(companion(path, index));
}

void make_cold(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
        fail("cannot make %s cold", path);
    close(file);
}

enum { WRITE_SIZE = 512, DISK_SIZE = 1 << 20 };

static char block[WRITE_SIZE];

disk disk_open(const char *path) {
    disk opened = {open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 0};
    if (opened.file < 0) fail("cannot make %s", path);
    for (size_t offset = 0; offset < DISK_SIZE; offset += sizeof block)
        if (write(opened.file, block, sizeof block) != sizeof block) fail("cannot write %s", path);
    fsync(opened.file);
    return opened;
}

void disk_write(disk *disk) {
    struct iovec part = {block, sizeof block};
    block[0]++;
    if (pwritev2(disk->file, &part, 1, (off_t)disk->position, RWF_DSYNC) != WRITE_SIZE)
        fail("the durable write failed");
    disk->position = (disk->position + WRITE_SIZE) % DISK_SIZE;
}

void disk_close(disk *disk) {
    close(disk->file);
}
