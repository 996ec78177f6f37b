import AppMigrations

/// A copy of data and state, made while the runner or the closure is paused.
///
/// A crash at this moment leaves this data.
struct RunImage {
    let path: String
    let moment: RehearsalMoment
    let number: Int
    /// The versions that had run before.
    let ran: [AppVersion]

    /// True if the closure had begun its work and not returned.
    var isInsideClosure: Bool {
        switch moment.place {
        case .afterCheckpoint, .afterSynchronize, .afterCommit: true
        default: false
        }
    }
}
