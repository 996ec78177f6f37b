/// The place that a closure saved with `saveCheckpoint`, for the next attempt to continue from.
package struct Checkpoint: Sendable {
    /// The place, as the closure described it.
    package let text: String

    /// The version of the app that saved the checkpoint.
    package let appVersion: AppVersion

    /// How much of the work was done, from 0 to 1.
    let progress: Double?

    /// The largest size of a checkpoint's text, in bytes.
    package static var sizeLimit: Int { 4_096 }
}
