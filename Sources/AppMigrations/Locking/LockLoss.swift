/// How a process lost a lock that it had taken.
final class LockLoss: Error, CustomStringConvertible {
    let description: String
    let isMendable: Bool
    let cause: (any Error)?

    private init(_ description: String, isMendable: Bool = false, _ cause: (any Error)? = nil) {
        self.description = description
        self.isMendable = isMendable
        self.cause = cause
    }

    static var gone: LockLoss {
        LockLoss("its file is not at that path any more, or its descriptor was closed", isMendable: true)
    }

    static var taken: LockLoss { LockLoss("another process has taken it since") }

    static var overwritten: LockLoss { LockLoss("another process has saved a state since") }

    static func inChild(of parent: Int32) -> LockLoss {
        LockLoss("this process is a child that process \(parent), which has the lock, made by fork")
    }

    static func unknown(_ cause: SystemCallError) -> LockLoss {
        LockLoss("its file can't be looked at, \(cause)", cause)
    }

    static func notAgain(_ cause: MigrationError) -> LockLoss {
        LockLoss("it could not be taken again, \(cause)", cause)
    }
}

extension SaveFailure {
    var lockLoss: LockLoss? { cause as? LockLoss }
}
