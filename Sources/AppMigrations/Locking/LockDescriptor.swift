/// An open file that a lock is on, and whether its descriptor is still this process's to use.
///
/// The number alone doesn't tell. A closure may close descriptors that it didn't open, and the next file that the process opens
/// gets the number. A child made by `fork` has a copy of the descriptor, and the lock is its parent's.
package struct LockDescriptor: Sendable {
    enum Use { case open, held, heldAsynchronously }

    package let number: Int32
    package let identity: FileIdentity
    private let serial: UInt64

    private struct Entry {
        let serial: UInt64
        let identity: FileIdentity
        var use: Use
    }

    private struct Table {
        var entries: [Int32: Entry] = [:]
        var lastSerial: UInt64 = 0
    }

    private static let table = Guarded(Table())

    /// The result of the registration, which happens once a process.
    ///
    /// flock(2): a child made by `fork` shares its parent's locks, which stay taken while any copy of the descriptor is
    /// open. So the child closes its copies at once, or the death of the parent would free nothing.
    private static let forkRegistration = Platform.registerForkHandlers(
        prepare: { LockDescriptor.table.lock() },
        parent: { LockDescriptor.table.unlock() },
        child: {
            LockDescriptor.table.unlock()
            LockDescriptor.closeInherited()
        }
    )

    /// Opens a file; gives the descriptor and what the file is.
    package static func opening(
        _ open: () throws(SystemCallError) -> Int32
    ) throws(SystemCallError) -> (descriptor: LockDescriptor, kind: FileStatus.Kind) {
        if forkRegistration != 0 {
            throw SystemCallError(call: "pthread_atfork", errorNumber: forkRegistration)
        }
        // All of it under the table's lock: no child has a copy that the table doesn't know.
        return try table.withLock { table throws(SystemCallError) in
            let number = try open()
            let status: FileStatus
            do throws(SystemCallError) {
                status = try FileStatus(number)
            } catch {
                Platform.closeAfterReading(number)
                throw error
            }
            table.lastSerial += 1
            table.entries[number] = Entry(serial: table.lastSerial, identity: status.identity, use: .open)
            let descriptor = LockDescriptor(
                number: number,
                identity: status.identity,
                serial: table.lastSerial
            )
            return (descriptor, status.kind)
        }
    }

    /// Whether the number still stands for the file that was opened, in the process that opened it.
    func isOurs() throws(SystemCallError) -> Bool {
        let isListed = Self.table.withLock { $0.entries[number]?.serial == serial }
        return isListed ? try Self.leads(number, to: identity) : false
    }

    func note(_ use: Use) {
        Self.table.withLock { table in
            if table.entries[number]?.serial == serial { table.entries[number]?.use = use }
        }
    }

    /// Whether this process has the lock of that file, and for what.
    static func use(of identity: FileIdentity) -> Use? {
        table.withLock { table in
            table.entries.values.first { $0.identity == identity && $0.use != .open }?.use
        }
    }

    /// Gives the lock back and closes the descriptor, once, and only where it is still ours.
    @inline(never)
    package func close() {
        Self.table.withLock { table in
            guard table.entries[number]?.serial == serial else { return }
            table.entries[number] = nil
            do throws(SystemCallError) {
                if try Self.leads(number, to: identity) { Platform.unlock(number) }
            } catch {
                // It can't be told which file the number stands for, and to close a file of the app would be worse than to leave
                // one open. But the lock is given back: else every other process would wait for as long as this one lives.
                Platform.release(number)
            }
            Self.signAgain(identity, table)
        }
    }

    /// Signs the lock that this process has on a file of which it has closed a descriptor, with which the sign went.
    ///
    /// Without the sign a process that only looks would take this one for dead.
    private static func signAgain(_ identity: FileIdentity, _ table: borrowing Table) {
        for (number, entry) in table.entries where entry.identity == identity && entry.use != .open {
            do throws(SystemCallError) {
                if try leads(number, to: identity) { Platform.sign(number) }
            } catch {
                // The number may be that of a file of the app, which is not to be locked.
            }
        }
    }

    private static func leads(_ number: Int32, to identity: FileIdentity) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            return try FileStatus(number).identity == identity
        } catch {
            if error.errorNumber == Platform.badDescriptor { return false }
            throw error
        }
    }

    /// Closes a child's copies, without giving back the locks, which are the parent's.
    private static func closeInherited() {
        table.withLock { table in
            for (number, entry) in table.entries {
                do throws(SystemCallError) {
                    if try leads(number, to: entry.identity) { Platform.closeAfterReading(number) }
                } catch {
                    // As above.
                }
            }
            table.entries.removeAll(keepingCapacity: true)
        }
    }
}
