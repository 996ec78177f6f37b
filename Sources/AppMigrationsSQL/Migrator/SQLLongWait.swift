/// When to tell of a wait that is one of many looks: at once, and then every ten seconds.
package struct SQLLongWait {
    private var told: ContinuousClock.Instant?

    package init() {}

    package mutating func isToBeTold(at now: ContinuousClock.Instant) -> Bool {
        if let told, told.duration(to: now) < .seconds(10) { return false }
        told = now
        return true
    }
}
