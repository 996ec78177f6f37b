import AppMigrations

/// A copy of data and state at one moment of a run: what a crash at this moment would leave on the disk.
///
/// The migration waits while the copy is made, so nothing changes the files.
struct RunImage {
    let path: String
    let moment: ObservedMoment
    let number: Int
    /// The versions that had run before.
    let ran: [AppVersion]

    /// True if the closure had begun its work but hadn't returned.
    var isInsideClosure: Bool {
        switch moment.place {
        case .afterCheckpoint, .afterSynchronize, .afterCommit: true
        default: false
        }
    }
}
