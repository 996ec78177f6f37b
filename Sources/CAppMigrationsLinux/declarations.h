// Calls of Linux that Swift's modules of the C libraries leave out, as their manual pages declare them.

#ifndef CAPPMIGRATIONS_LINUX_H
#define CAPPMIGRATIONS_LINUX_H

#if defined(__linux__)

#include <sys/utsname.h>
#include <sys/vfs.h>

// open(2): Swift can't call it, since its arguments vary. What the modules of the C libraries have in its place is a
// function of another library, which has to be found before the one of the C library is.
int open(const char *path, int flags, ...);

static inline int app_migrations_open(const char *path, int flags) { return open(path, flags); }

// fgetxattr(2), fsetxattr(2), fremovexattr(2)
__PTRDIFF_TYPE__ fgetxattr(int file, const char *name, void *value, __SIZE_TYPE__ size);
int fsetxattr(int file, const char *name, const void *value, __SIZE_TYPE__ size, int flags);
int fremovexattr(int file, const char *name);

// syncfs(2)
int syncfs(int file);

// sync_file_range(2): starts to write what a file has in memory, and waits for nothing.
#if !defined(__ANDROID__)
int sync_file_range(int file, __INT64_TYPE__ offset, __INT64_TYPE__ count, unsigned int flags);

static inline void app_migrations_begin_writing(int file) { (void)sync_file_range(file, 0, 0, 2); }
#endif

// fstatfs(2): the number that tells of what kind an open file's file system is; -1 where it can't be told.
static inline long long app_migrations_file_system(int file) {
    struct statfs status;
    return fstatfs(file, &status) == 0 ? (long long)status.f_type : -1;
}

// statx(2): the kernel fills 256 bytes.
#if !defined(__ANDROID__)
int statx(int folder, const char *path, int flags, unsigned int mask, void *status);
#endif

#endif
#endif
