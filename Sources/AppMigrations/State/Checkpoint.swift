/// A position that a closure saved with `saveCheckpoint`, so that the next attempt can continue from there.
package struct Checkpoint: Sendable, Equatable {
    /// The position, in whatever form the closure chose.
    package let text: String

    /// The version of the app that saved the checkpoint.
    package let appVersion: AppVersion

    /// How much of the work was done, from 0 to 1; `nil` if the closure didn't say.
    let progress: Double?

    /// The maximum size of a checkpoint's text, in bytes.
    package static var sizeLimit: Int { 4_096 }
}
