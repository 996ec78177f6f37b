/// What a migration's closure can know of itself, and ways to say how far it is, to go on there and to make its work durable.
public struct MigrationContext: Sendable {
    /// The version of this migration.
    public let version: AppVersion

    /// The last-run version, which the data is at now.
    public let previousVersion: AppVersion

    /// How many times this closure was begun, this time included: 1, unless a process died in it or it threw.
    public let attempt: Int

    /// Whether an earlier attempt may have done a part already.
    public var isRetry: Bool { attempt > 1 }

    let location: StateLocation
    let lock: FileLock
    let onEvent: (@Sendable (MigrationEvent) -> Void)?
    let writer: CheckpointWriter

    /// Sends an event of the kind ``MigrationEvent/Kind/progressed``.
    ///
    /// - Parameters:
    ///   - fraction: How much is done, from 0 to 1. A value outside is taken for the nearer end, one that is not a
    ///     number for 0.
    ///   - note: What is being done, for a display.
    public func reportProgress(_ fraction: Double, note: String? = nil) {
        onEvent?(
            MigrationEvent(
                .progressed,
                location.name,
                version: version,
                previousVersion: previousVersion,
                attempt: attempt,
                fraction: Self.fraction(fraction),
                note: note
            )
        )
    }

    package static func fraction(_ number: Double) -> Double { number.isNaN ? 0 : min(max(number, 0), 1) }
}
