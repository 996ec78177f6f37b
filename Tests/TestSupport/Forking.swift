package import Foundation

/// Swift hides `fork` from its users, so the tests find it by its name; gives 0 in the child.
package func forkProcess() -> pid_t {
    guard let symbol = dlsym(nil, "fork") else { return -1 }
    typealias Fork = @convention(c) () -> pid_t
    return unsafeBitCast(symbol, to: Fork.self)()
}

/// The status with which a child ended.
package func wait(for child: pid_t) -> Int32 {
    var status: Int32 = -1
    while waitpid(child, &status, 0) == -1, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
}

/// Whether the descriptor is open in this process.
package func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

/// Closes what a child has of its parent's, but for files with that in their names: the test's runner waits for the
/// end of its pipes.
package func closeDescriptorsOfTheRunner(keeping name: String = ".migrations.") {
    for descriptor in 0..<highestDescriptor {
        if let file = file(of: descriptor), !file.contains(name) { close(descriptor) }
    }
}

/// The tests that run at once have hundreds of descriptors, and a child inherits them all.
private var highestDescriptor: Int32 { min(getdtablesize(), 65_536) }

/// What Linux says that a descriptor stands for; `nil` where it is closed, or on another system.
private func file(of descriptor: Int32) -> String? {
    var path = [CChar](repeating: 0, count: 4_096)
    let length = readlink("/proc/self/fd/\(descriptor)", &path, 4_095)
    return length > 0 ? String(decoding: path[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
}

/// Closes the low descriptors but the standard streams, as a program does that becomes a daemon.
package func closeAllDescriptors() {
    // A test's own process has few. Higher ones are its runner's.
    for descriptor in Int32(3)..<256 {
        // Queues and timers are Dispatch's, which stops the process where one is gone.
        if let file = file(of: descriptor), file.hasPrefix("anon_inode:") { continue }
        close(descriptor)
    }
}
