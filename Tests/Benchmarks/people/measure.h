/* The clock, memory that is there, and the disk below all engines. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Seconds on a clock that only goes forward. */
double now(void);

/* Memory, or the end of the program. Free it. */
void *obtain(size_t size);

/* Ends the program with a message. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The value with a part (0...1) of the values below it. Sorts them. */
double percentile(double *values, size_t count, double part);

/* The size of a database's file with the log beside it that SQLite may have. */
double file_size(const char *path);

/* Removes a database's file and those beside it. */
void remove_files(const char *path);

/* Puts a file's pages out of the page cache. */
void make_cold(const char *path);

/* A file whose blocks are initialised, to measure the disk's own durable write of 512 bytes:
   what no commit can be faster than. */
typedef struct disk {
    int file;
    size_t position;
} disk;

disk disk_open(const char *path);
void disk_write(disk *disk);
void disk_close(disk *disk);

#endif
