// Calls of Linux that Swift's modules of the C libraries leave out, as their manual pages declare them.

#ifndef CAPPMIGRATIONS_LINUX_H
#define CAPPMIGRATIONS_LINUX_H

#if defined(__linux__)

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

// statx(2): the kernel fills 256 bytes.
#if !defined(__ANDROID__)
int statx(int folder, const char *path, int flags, unsigned int mask, void *status);
#endif

#endif
#endif
