#pragma once
#include <stdint.h>

// Opens a database, reads the versions in its ledger in order, and closes it. Returns how many there are, or -1.
int64_t measure_c_ledger(const char *path);
