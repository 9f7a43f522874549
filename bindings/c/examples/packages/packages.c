// The main job: loads the machine's own packages, links them, asks five questions, then observes what another process commits.
//
//   packages [--database FILE] [SOURCE]
//
// SOURCE is a dpkg status file or a file of JSON lines; without it /var/lib/dpkg/status is read and, where there is none, the sample that lies
// beside this program's source. The database is made in a temporary directory and removed at the end, unless a file is named.
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "catalog.h"
#include "observation.h"

#ifndef PACKAGES_SAMPLE
#define PACKAGES_SAMPLE "sample.jsonl"
#endif

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *default_source(void) {
    static const char status[] = "/var/lib/dpkg/status";
    return access(status, R_OK) == 0 ? status : PACKAGES_SAMPLE;
}

static void print_load(const load_report *report, const char *source, double duration, catalog *catalog) {
    toft_info info;
    TOFT_INITIALIZE(&info);
    CHECK(toft_realm_info(catalog->realm, &info));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("Loaded %s packages from %s", grouped((int64_t)report->packages), source);
    if (report->repeated > 0) printf(" (%s more were there already)", grouped((int64_t)report->repeated));
    printf(".\nLinked %s dependencies and %s recommendations; %s and %s name no package of these.\n", grouped((int64_t)report->depends),
           grouped((int64_t)report->recommends), grouped((int64_t)report->missing_depends), grouped((int64_t)report->missing_recommends));
    printf("It took %.2f s and %s KiB of memory at most; the file has %s KiB.\n\n", duration, grouped(usage.ru_maxrss),
           grouped((int64_t)(info.file_size / 1024)));
}

static bool is_sound(catalog *catalog) {
    toft_check_report report;
    TOFT_INITIALIZE(&report);
    char problems[4096];
    size_t size = 0;
    CHECK(toft_realm_check(catalog->realm, &report, problems, sizeof problems, &size));
    if (report.problem_count > 0) fprintf(stderr, "%.*s\n", (int)(size < sizeof problems ? size : sizeof problems), problems);
    return report.problem_count == 0;
}

static bool run(const char *program, const char *database, const char *source_path) {
    writer writer = writer_start(program, database);
    package_source source;
    package_source_open(&source, source_path);
    catalog catalog;
    double start = seconds();
    catalog_open(&catalog, database);
    load_report report = catalog_load(&catalog, &source);
    print_load(&report, source_path, seconds() - start, &catalog);
    package_source_close(&source);

    start = seconds();
    catalog_answer(&catalog);
    printf("   The answers took %.0f ms.\n\n", (seconds() - start) * 1000);

    bool ok = observe_writer(&catalog, writer);
    ok = is_sound(&catalog) && ok;
    catalog_close(&catalog);
    return ok;
}

int main(int argc, char **argv) {
    const char *database = NULL, *source = NULL;
    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--write") == 0 && index + 1 < argc) {
            writer_run(argv[index + 1]);
            return 0;
        }
        if (strcmp(argv[index], "--database") == 0 && index + 1 < argc) database = argv[++index];
        else if (argv[index][0] == '-' || source != NULL) {
            fprintf(stderr, "usage: %s [--database FILE] [SOURCE]\n", argv[0]);
            return 2;
        } else source = argv[index];
    }
    if (source == NULL) source = default_source();
    if (database != NULL) return run(argv[0], database, source) ? 0 : 1;

    char directory[] = "/tmp/packages-XXXXXX", file[64], lock[80];
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        return 1;
    }
    snprintf(file, sizeof file, "%s/packages.toft", directory);
    snprintf(lock, sizeof lock, "%s.lock", file);
    bool ok = run(argv[0], file, source);
    unlink(file);
    unlink(lock);
    rmdir(directory);
    return ok ? 0 : 1;
}
