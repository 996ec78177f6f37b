#define _GNU_SOURCE
#include "measure.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t measure_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t measure_c_start(const char *path) {
    char buffer[1024];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int64_t count = read(file, buffer, sizeof buffer);
    close(file);
    return count;
}

int measure_c_commit(const char *directory, const char *name, const char *bytes, uint64_t length) {
    char temporary[4096], target[4096];
    snprintf(temporary, sizeof temporary, "%s/%s.tmp", directory, name);
    snprintf(target, sizeof target, "%s/%s", directory, name);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    if (write(file, bytes, length) != (ssize_t)length || fsync(file) != 0 || close(file) != 0) return -1;
    if (rename(temporary, target) != 0) return -1;
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    int result = fsync(folder);
    close(folder);
    return result;
}

void measure_mark(void) { syscall(SYS_getpgid, 0x7fffbeef); }

uint64_t measure_faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}
