// Calls of Linux that Swift's modules of the C libraries leave out, as their manual pages declare them.

#ifndef CAPPMIGRATIONS_LINUX_H
#define CAPPMIGRATIONS_LINUX_H

#if defined(__linux__)

#include <sys/vfs.h>

// open(2): Swift can't call it, since its arguments vary. What the modules of the C libraries have in its place is a
// function of another library, which has to be found before the one of the C library is.
int open(const char *path, int flags, ...);

static inline int app_migrations_open(const char *path, int flags) { return open(path, flags); }

// fgetxattr(2), flistxattr(2), fsetxattr(2), fremovexattr(2)
__PTRDIFF_TYPE__ flistxattr(int file, char *names, __SIZE_TYPE__ size);
__PTRDIFF_TYPE__ fgetxattr(int file, const char *name, void *value, __SIZE_TYPE__ size);
int fsetxattr(int file, const char *name, const void *value, __SIZE_TYPE__ size, int flags);
int fremovexattr(int file, const char *name);

// syncfs(2)
int syncfs(int file);

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
