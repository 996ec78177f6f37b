internal import AppMigrations

/// What renews a lease, and what gives it up.
extension LeaseHolder {
    /// Takes the lease for lost once it could not be renewed for half of its length: another host takes over after the whole.
    ///
    /// A process whose threads were all busy has not tried. So the last twelfth of that half begins only when this task runs
    /// again, and a renewal after a stall keeps the lease: it replaces the revision that nobody has taken over, or fails.
    func watch() async {
        let lastTry = lease.length / 12
        var tries = 0
        while tries < Self.patience {
            let (renewed, hasEnded) = renewal
            if hasEnded { return }
            let began = clock.uptime()
            let left = lease.length - (began - renewed)
            let isLast = left <= lease.length / 2 + lastTry
            // Before the whole length nobody takes over, so a last try that begins in it doesn't outlast it.
            let pause =
                isLast ? (left > .zero ? min(lastTry, left) : lastTry) : left - lease.length / 2 - lastTry
            do {
                try await clock.pause(pause)
            } catch {
                return
            }
            if !isLast || renewal.renewed != renewed {
                tries = 0
            } else {
                // Where the pause itself took long, the process stood still in it.
                tries += clock.uptime() - began < pause + lastTry / 4 ? Self.patience : 1
            }
        }
        lose(.notRenewed(lease.length / 2))
    }

    /// Renews before the closure begins, where the store took so long to answer that another host may have taken over since.
    func refresh() async throws(MigrationError) {
        while clock.uptime() - renewal.renewed >= lease.length / 2 {
            do throws(MigrationError) {
                try await save { $0 }
            } catch {
                throw loss.map { .leaseLost($0, version, stored.location, begun: false) } ?? error
            }
        }
    }

    /// Renews until the task is cancelled, or the lease lost.
    func renew() async {
        var pause = lease.length / 6
        while true {
            do {
                try await clock.pause(pause)
            } catch {
                return
            }
            do throws(MigrationError) {
                try await save { $0 }
                pause = lease.length / 6
            } catch {
                if loss != nil { return }
                // The store could not be reached: tried again until `watch` gives the lease up.
                pause = min(lease.length / 12, .seconds(1))
            }
        }
    }
}
