// Preloaded into the tests: every clock goes back by up to three seconds again and again, as after a suspended virtual
// machine, a corrected time zone or a dead battery. Over a longer time each clock still moves on, so that a wait ends.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_uint calls;

static long lag(void) { return atomic_fetch_add(&calls, 1) % 4; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && now->tv_sec > 3) now->tv_sec -= lag();
    return result;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
