#pragma once
#include <stdint.h>

// The blocks that this process asked malloc for so far. Linking this target counts them.
uint64_t allocations_so_far(void);
