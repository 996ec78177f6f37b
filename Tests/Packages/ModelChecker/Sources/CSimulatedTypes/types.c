#include "simulated_types.h"

#include <string.h>

void *simulated_memchr(const void *bytes, int byte, long count) { return (void *)memchr(bytes, byte, count); }

int simulated_memcmp(const void *one, const void *other, long count) { return memcmp(one, other, count); }

long simulated_strlen(const char *text) { return (long)strlen(text); }
