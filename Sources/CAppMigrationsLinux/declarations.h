// Calls of Linux that Swift's modules of the C libraries leave out, as their manual pages declare them.

#ifndef CAPPMIGRATIONS_LINUX_H
#define CAPPMIGRATIONS_LINUX_H

#if defined(__linux__)

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
