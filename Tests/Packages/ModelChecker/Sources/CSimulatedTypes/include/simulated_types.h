// The types and constants of Linux that the simulated system has, with the kernel's values. It includes no header of the
// C library: a call that isn't simulated must not compile.

#ifndef SIMULATED_TYPES_H
#define SIMULATED_TYPES_H

typedef unsigned int mode_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef long off_t;
typedef long time_t;
typedef int clockid_t;

#define SWIFT_NAME(name) __attribute__((swift_name(#name)))

struct simulated_timespec { long tv_sec; long tv_nsec; } SWIFT_NAME(timespec);

struct simulated_stat {
    unsigned long st_dev, st_ino, st_nlink;
    mode_t st_mode;
    uid_t st_uid;
    gid_t st_gid;
    long st_size, st_blksize, st_blocks;
    struct simulated_timespec st_atim, st_mtim, st_ctim;
} SWIFT_NAME(stat);

struct simulated_statvfs { unsigned long f_bsize, f_frsize, f_blocks, f_bfree, f_bavail; } SWIFT_NAME(statvfs);

struct simulated_utsname { char release[65]; } SWIFT_NAME(utsname);

struct simulated_dirent { unsigned long d_ino; char d_name[256]; } SWIFT_NAME(dirent);

struct simulated_mutex { long opaque; } SWIFT_NAME(pthread_mutex_t);

#define SIMULATED(name, value) static const int name = value

SIMULATED(EPERM, 1); SIMULATED(ENOENT, 2); SIMULATED(ESRCH, 3); SIMULATED(EINTR, 4); SIMULATED(EIO, 5);
SIMULATED(ENXIO, 6); SIMULATED(EBADF, 9); SIMULATED(EAGAIN, 11); SIMULATED(EWOULDBLOCK, 11);
SIMULATED(ENOMEM, 12); SIMULATED(EACCES, 13); SIMULATED(EBUSY, 16); SIMULATED(EEXIST, 17); SIMULATED(EXDEV, 18);
SIMULATED(ENODEV, 19); SIMULATED(ENOTDIR, 20); SIMULATED(EISDIR, 21); SIMULATED(EINVAL, 22);
SIMULATED(EMFILE, 24); SIMULATED(ENOTTY, 25); SIMULATED(EFBIG, 27); SIMULATED(ENOSPC, 28); SIMULATED(EROFS, 30); SIMULATED(ENOKEY, 126);
SIMULATED(EMLINK, 31); SIMULATED(ERANGE, 34); SIMULATED(ENAMETOOLONG, 36); SIMULATED(ENOLCK, 37);
SIMULATED(ENOSYS, 38); SIMULATED(ENOTEMPTY, 39); SIMULATED(ELOOP, 40); SIMULATED(ENODATA, 61);
SIMULATED(EILSEQ, 84); SIMULATED(ENOTSUP, 95); SIMULATED(EOPNOTSUPP, 95); SIMULATED(ESTALE, 116);
SIMULATED(EDQUOT, 122);

SIMULATED(O_RDONLY, 0); SIMULATED(O_WRONLY, 1); SIMULATED(O_RDWR, 2); SIMULATED(O_CREAT, 0100);
SIMULATED(O_EXCL, 0200); SIMULATED(O_NOCTTY, 0400); SIMULATED(O_TRUNC, 01000); SIMULATED(O_APPEND, 02000);
SIMULATED(O_NONBLOCK, 04000); SIMULATED(O_DIRECTORY, 0200000); SIMULATED(O_NOFOLLOW, 0400000);
SIMULATED(O_CLOEXEC, 02000000); SIMULATED(AT_FDCWD, -100); SIMULATED(AT_SYMLINK_NOFOLLOW, 0x100);
SIMULATED(AT_REMOVEDIR, 0x200); SIMULATED(AT_EACCESS, 0x200);

static const mode_t S_IFMT = 0170000, S_IFREG = 0100000, S_IFDIR = 0040000, S_IFLNK = 0120000, S_IFSOCK = 0140000;
static const mode_t S_IFIFO = 0010000;

SIMULATED(SEEK_SET, 0); SIMULATED(SEEK_CUR, 1); SIMULATED(SEEK_END, 2); SIMULATED(W_OK, 2); SIMULATED(R_OK, 4);
SIMULATED(X_OK, 1); SIMULATED(F_OK, 0); SIMULATED(LOCK_SH, 1); SIMULATED(LOCK_EX, 2); SIMULATED(LOCK_NB, 4);
SIMULATED(LOCK_UN, 8); SIMULATED(F_GETFD, 1); SIMULATED(F_SETFD, 2); SIMULATED(F_GETFL, 3);
SIMULATED(F_DUPFD_CLOEXEC, 1030); SIMULATED(FD_CLOEXEC, 1);
SIMULATED(STDIN_FILENO, 0); SIMULATED(STDOUT_FILENO, 1); SIMULATED(STDERR_FILENO, 2);
SIMULATED(NAME_MAX, 255); SIMULATED(PATH_MAX, 4096); SIMULATED(CLOCK_MONOTONIC, 1); SIMULATED(CLOCK_BOOTTIME, 7);
SIMULATED(CLOCK_REALTIME, 0);

// The three of string.h that compare and search bytes.
void *simulated_memchr(const void *bytes, int byte, long count) SWIFT_NAME(memchr(_:_:_:));
int simulated_memcmp(const void *one, const void *other, long count) SWIFT_NAME(memcmp(_:_:_:));
long simulated_strlen(const char *text) SWIFT_NAME(strlen(_:));

#endif
