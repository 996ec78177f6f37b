// Preloaded into the stand-in app: every look at a clock finds it ten seconds earlier than the last did, as after the
// machine's time was set back or its image was moved to another host.
#define _GNU_SOURCE
#include <time.h>

enum { noon = 1800000000, step = 10 };

static time_t back(void) {
    static time_t looks;
    return noon - step * __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    time->tv_sec = back();
    time->tv_nsec = 0;
    return 0;
}

time_t time(time_t *result) {
    time_t now = back();
    if (result) *result = now;
    return now;
}
