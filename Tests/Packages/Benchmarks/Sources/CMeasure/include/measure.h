#pragma once
#include <stdint.h>

uint64_t measure_now(void);

// Reads the file as a program in C would: open, fstat, read, close. Returns the bytes read, or -1.
int64_t measure_c_start(const char *path);

// A commit that survives a power failure: temporary file, write, fsync, rename, fsync of the directory. 0, or -1.
int measure_c_commit(const char *directory, const char *name, const char *bytes, uint64_t length);

// The page faults of this process so far that needed no disk.
uint64_t measure_faults(void);

// A system call that does nothing, for the tracer to see where the measured part begins and ends.
void measure_mark(void);

typedef struct {
    int status;             // as waitpid gives it
    uint64_t nanoseconds;   // from before the spawn to the end
    int64_t output;         // the number that the program printed, or -1
    int64_t faults;         // its page faults that needed no disk
} measure_run;

measure_run measure_spawn(const char *const arguments[]);

typedef struct {
    int status;
    uint64_t marked;        // system calls between the marks
    uint64_t marked_syncs;  // fsync and fdatasync among them
    uint64_t threads;       // clone calls between the marks
    uint64_t private_kib;   // RssAnon at the end: what no other process shares and the kernel can't drop
    uint64_t mapped_kib;    // RssFile at the end
    uint64_t libraries;     // shared objects mapped at the end
} measure_trace;

measure_trace measure_traced(const char *const arguments[]);
