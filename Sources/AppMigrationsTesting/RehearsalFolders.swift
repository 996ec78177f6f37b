import AppMigrations
import Foundation

/// The folders of a rehearsal: one folder for the current run, and copies next to it.
///
/// All runs use the same path, because the data may contain paths, and the state contains the paths of
/// protected files.
struct RehearsalFolders: Sendable {
    let root: String

    init(in directory: String?) throws {
        let parent =
            try directory.map { URL(filePath: $0) } ?? Self.memory ?? FileManager.default.temporaryDirectory
        let url = parent.appending(path: "AppMigrationsTesting-\(UUID().uuidString)")
        root = url.path(percentEncoded: false)
    }

    /// A folder in memory; `nil` if there is none that is writable and has enough space.
    ///
    /// In a container, `/dev/shm` often has only 64 MiB.
    private static var memory: URL? {
        get throws {
            let path = "/dev/shm"
            let files = FileManager.default
            guard files.isWritableFile(atPath: path) else { return nil }
            let free = try files.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? NSNumber
            return (free?.int64Value ?? 0) >= 1 << 30 ? URL(filePath: path) : nil
        }
    }

    var run: String { root + "/Run" }
    var data: String { run + "/Data" }
    var state: String { run + "/State" }

    func startData(ofPoint point: Int) -> String { root + "/Start \(point)" }
    /// The data at the end of the point's jump.
    func endData(ofPoint point: Int) -> String { root + "/End \(point)" }
    /// The data at the end of the jump before which the point's release had written.
    func endDataAfterWriting(atPoint point: Int) -> String { root + "/End Written \(point)" }
    /// A copy of what a migration replaces.
    var original: String { root + "/Original" }
    /// The state at the end of the point's jump.
    func endState(ofPoint point: Int) -> String { root + "/End State \(point)" }
    /// The data in an image, which is a copy of the run's folder.
    func data(of image: RunImage) -> String { image.path + "/Data" }
    func state(of image: RunImage) -> String { image.path + "/State" }
    func image(of moment: ObservedMoment, number: Int) -> String {
        root + "/Image \(moment.version) \(moment.place) \(number)"
    }

    /// The text of an error as a sentence, without the paths of folders that are removed later.
    func sentence(describing error: any Error) -> String {
        var text = "\(error)"
        if let error = error as? MigrationError, error.code == .migrationFailed || error.code == .cancelled,
            let version = error.version, let cause = error.underlyingError
        {
            text = "migration \(version) threw: \(cause)"
        }
        text = text.replacing(data, with: "<data>").replacing(state, with: "<state>")
        return text.hasSuffix(".") ? text : text + "."
    }
}
