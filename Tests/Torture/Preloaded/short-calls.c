// Preloaded into the stand-in app: every read and write of a file moves a few bytes only, as a signal, a pipe or a
// network file system may have it. strace can't do this, since a call whose result it replaces isn't made.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

enum { most = 7 };

ssize_t write(int descriptor, const void *bytes, size_t count) {
    return syscall(SYS_write, descriptor, bytes, descriptor > 2 && count > most ? most : count);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    return syscall(SYS_read, descriptor, bytes, descriptor > 2 && count > most ? most : count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return syscall(SYS_pread64, descriptor, bytes, count > most ? most : count, offset);
}
