#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// How many changes of a folder's names are left until this process dies.
nonisolated(unsafe) private var changesLeft = 0

struct NotTold: Error {}

/// Lets this process die in a system call that makes, renames or removes a file in the folder of `path`: in the call with that
/// number.
///
/// The kernel signals each change to the process that makes it, before the call returns (fcntl, F_NOTIFY). Only Linux does.
func die(atChange number: Int, beside path: String) throws {
    #if os(Linux)
    // Swift doesn't import them: F_NOTIFY; DN_CREATE, DN_DELETE, DN_RENAME and DN_MULTISHOT.
    let notify: CInt = 1026
    let changes: UInt32 = 0x4 | 0x8 | 0x10 | 0x8000_0000
    changesLeft = number
    signal(SIGIO) { _ in
        changesLeft -= 1
        if changesLeft == 0 { kill(getpid(), SIGKILL) }
    }
    // Whoever started this process may have blocked the signal.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGIO)
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    // It stays open: the kernel tells nothing more once it is closed.
    let folder = open(path[...(path.lastIndex(of: "/") ?? path.startIndex)] + ".", O_RDONLY | O_CLOEXEC)
    if fcntl(folder, notify, CInt(bitPattern: changes)) != 0 { throw NotTold() }
    #else
    throw NotTold()
    #endif
}
