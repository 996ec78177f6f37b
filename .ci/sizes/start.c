// Counts what a program does between its first call of getppid and the next: the instructions outside of the kernel, those of
// them that lie in the program's own file, and the calls of the system.
//
//     start DIRECTORY PROGRAM [ARGUMENT …]
//
// The program runs in the directory, one step at a time. The machine's load changes no count, as it changes every time. Three
// things would: where the kernel puts the program and its libraries, so their places are fixed; the environment, so it is
// empty; and the seed of Swift's hashes, so there is none. What is left is the machine's: the C library picks its copying and
// comparing by the processor, and its dynamic linker looks symbols up in its own way. Neither is the program's own code, which
// is counted apart.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "The steps are counted on x86-64: name the registers and the instruction that calls the system for this processor."
#endif

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("start: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/// The addresses of the program's own file: its lowest and its highest mapping.
static void find_own(pid_t child, const char *program, uint64_t *low, uint64_t *high) {
    char path[64], line[4096], own[4096];
    if (realpath(program, own) == NULL) fail("%s has no path: %s", program, strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/maps", child);
    FILE *maps = fopen(path, "r");
    if (maps == NULL) fail("%s can't be read: %s", path, strerror(errno));
    *low = UINT64_MAX;
    *high = 0;
    while (fgets(line, sizeof line, maps)) {
        uint64_t begin, end;
        char *name = strchr(line, '/');
        if (name == NULL || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
        name[strcspn(name, "\n")] = 0;
        if (strcmp(name, own) != 0) continue;
        if (begin < *low) *low = begin;
        if (end > *high) *high = end;
    }
    fclose(maps);
    if (*high == 0) fail("the mappings of %s aren't in %s", own, path);
}

/// Lets the child go on in the given way, and waits until it stops.
static int go(pid_t child, int how, int signal) {
    int status;
    if (ptrace(how, child, 0, signal) != 0) fail("the program can't be driven: %s", strerror(errno));
    if (waitpid(child, &status, 0) != child) fail("the program can't be waited for: %s", strerror(errno));
    if (WIFEXITED(status)) fail("the program ended with %d before its second mark", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) fail("the program was killed by signal %d before its second mark", WTERMSIG(status));
    return WSTOPSIG(status);
}

static struct user_regs_struct registers_of(pid_t child) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, 0, &registers) != 0) fail("the registers can't be read: %s", strerror(errno));
    return registers;
}

/// Drives the child by calls of the system until it has called getppid.
static void reach_mark(pid_t child) {
    for (int entering = 1;; entering = !entering) {
        int signal = go(child, PTRACE_SYSCALL, 0);
        if (signal != (SIGTRAP | 0x80)) fail("the program got signal %d before its first mark", signal);
        if (!entering && registers_of(child).orig_rax == SYS_getppid) return;
    }
}

int main(int count, char **arguments) {
    if (count < 3) fail("which directory, and which program?");
    const char *program = arguments[2];
    pid_t child = fork();
    if (child < 0) fail("no process could be made: %s", strerror(errno));
    if (child == 0) {
        char *environment[] = { "SWIFT_DETERMINISTIC_HASHING=1", NULL };
        if (chdir(arguments[1]) != 0) fail("%s: %s", arguments[1], strerror(errno));
        // A container may refuse it. Then the places differ from run to run; the counts were still the same.
        personality(ADDR_NO_RANDOMIZE);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) {
            fail("steps aren't permitted here (ptrace): %s. A container needs --cap-add=SYS_PTRACE, or a seccomp profile that "
                 "lets it be called.", strerror(errno));
        }
        execve(program, arguments + 2, environment);
        fail("%s: %s", program, strerror(errno));
    }
    int status;
    if (waitpid(child, &status, 0) != child) fail("the program can't be waited for: %s", strerror(errno));
    if (!WIFSTOPPED(status)) exit(1);
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0) {
        fail("the program can't be driven: %s", strerror(errno));
    }
    reach_mark(child);

    uint64_t low, high, instructions = 0, own = 0, calls = 0;
    find_own(child, program, &low, &high);
    for (;;) {
        struct user_regs_struct registers = registers_of(child);
        if (registers.rip >= low && registers.rip < high) own++;
        errno = 0;
        long word = ptrace(PTRACE_PEEKTEXT, child, registers.rip, 0);
        if (errno != 0) fail("an instruction can't be read: %s", strerror(errno));
        // The two bytes 0F 05 call the system.
        if ((word & 0xffff) == 0x050f) {
            if (registers.rax == SYS_getppid) break;
            calls++;
        }
        instructions++;
        int signal = go(child, PTRACE_SINGLESTEP, 0);
        if (signal != SIGTRAP) fail("the program got signal %d between its marks", signal);
    }
    printf("instructions %lu\nown %lu\ncalls %lu\n", instructions, own, calls);
    if (kill(child, SIGKILL) != 0) fail("the program can't be ended: %s", strerror(errno));
    return 0;
}
