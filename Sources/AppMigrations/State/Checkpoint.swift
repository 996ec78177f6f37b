/// How far the closure of a migration came, in its own words.
package struct Checkpoint: Sendable {
    package internal(set) var text: String
    /// The version of the app that wrote `text`.
    package internal(set) var appVersion: AppVersion
    /// How much was done then, from 0 to 1.
    var progress: Double?

    package static var sizeLimit: Int { 4_096 }

    /// Whether `other` stands at the same place, byte for byte: Swift's `==` would take two spellings of `é` for one.
    func isAt(_ other: String) -> Bool { text.utf8.elementsEqual(other.utf8) }
}

extension Checkpoint: Equatable {
    package static func == (left: Checkpoint, right: Checkpoint) -> Bool {
        left.isAt(right.text) && left.appVersion == right.appVersion && left.progress == right.progress
    }
}
