// Preloaded into the stand-in app: the clock that counts the time asleep jumps by an hour whenever it is asked, as if a lid
// had been closed in between. At the tenth question to any clock the file that MARKER names is made.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { hour = 3600, enough = 10 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int questions, jumps;
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_BOOTTIME) now->tv_sec += hour * jumps++;
    const char *marker = getenv("MARKER");
    if (++questions == enough && marker) close(open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return result;
}
