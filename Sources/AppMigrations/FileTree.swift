/// Files and folders as wholes: copied, made durable, measured, removed.
///
/// Links are never followed.
enum FileTree {
    /// A call of the system that failed, and on which file.
    struct Failure: Error {
        let cause: SystemCallError
        let path: String
    }

    /// Something that is neither file, folder nor link.
    struct SpecialFile: Error {
        let path: String
    }

    /// The bytes that a copy would need.
    static func size(of path: String) throws -> UInt64 {
        guard let status = try status(path) else { return 0 }
        switch status.kind {
        case .file: return UInt64(status.size)
        case .link: return 0
        case .other: throw SpecialFile(path: path)
        case .directory: return try children(path).reduce(0) { try $0 + size(of: $1) }
        }
    }

    /// What stands at `path`; `nil` when nothing does.
    static func status(_ path: String) throws -> FileStatus? {
        do {
            return try FileStatus(ofEntry: path)
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return nil
            }
            throw Failure(cause: error, path: path)
        }
    }

    static func children(_ path: String) throws -> [String] {
        try names(path).map { "\(path)/\($0)" }
    }

    private static func names(_ path: String) throws -> [String] {
        try at(path) { () throws(SystemCallError) in try Platform.names(in: path) }
    }

    /// Copies what stands at `source`, if anything does, to `target`, where nothing stands, with permissions and times.
    ///
    /// `beforeCopying` is called before each file whose blocks can't be shared.
    static func copy(_ source: String, to target: String, beforeCopying: () throws -> Void) throws {
        guard let status = try status(source) else { return }
        switch status.kind {
        case .file: try copyFile(source, to: target, beforeCopying)
        case .other: throw SpecialFile(path: source)
        case .link:
            try at(source) { () throws(SystemCallError) in
                try Platform.copyLink(source, to: target)
                try Platform.setTimes(target, as: status)
            }
            return
        case .directory:
            try at(target) { () throws(SystemCallError) in try Platform.makeDirectory(target) }
            for name in try names(source) {
                try copy("\(source)/\(name)", to: "\(target)/\(name)", beforeCopying: beforeCopying)
            }
        }
        try at(target) { () throws(SystemCallError) in try Platform.setAttributes(target, as: status) }
    }

    /// Makes `target` what `source` is.
    ///
    /// A folder stays the one it was, since the one above it may not be this user's, or be another file
    /// system's; what holds the target is made again if it went with it.
    static func replace(_ target: String, with source: String) throws {
        guard let model = try status(source) else { return try remove(target) }
        let parent = ProtectedPaths.parent(target)
        if try status(parent) == nil {
            try at(parent) { () throws(SystemCallError) in try Platform.makeDirectories(parent) }
        }
        guard model.kind == .directory, let present = try status(target), present.kind == .directory else {
            try remove(target)
            return try copy(source, to: target) {}
        }
        try at(target) { () throws(SystemCallError) in try Platform.makeAccessible(target, present) }
        for child in try children(target) { try remove(child) }
        for name in try names(source) { try copy("\(source)/\(name)", to: "\(target)/\(name)") {} }
        try at(target) { () throws(SystemCallError) in try Platform.setAttributes(target, as: model) }
    }

    private static func copyFile(_ source: String, to target: String, _ beforeCopying: () throws -> Void)
        throws
    {
        let isShared = try at(source) { () throws(SystemCallError) in
            try Platform.cloneFile(source, to: target)
        }
        if isShared { return }
        let reader = try at(source) { () throws(SystemCallError) in try Platform.openToRead(source) }
        defer { Platform.closeAfterReading(reader) }
        let writer = try at(target) { () throws(SystemCallError) in try Platform.createExclusively(target) }
        do {
            let isCloned = try at(target) { () throws(SystemCallError) in
                try Platform.clone(reader, to: writer)
            }
            if !isCloned {
                try beforeCopying()
                try at(target) { () throws(SystemCallError) in try Platform.copyContent(reader, to: writer) }
            }
        } catch {
            Platform.closeAfterReading(writer)
            throw error
        }
        try at(target) { () throws(SystemCallError) in try Platform.closeAfterWriting(writer) }
    }

    /// Brings a tree to the medium.
    ///
    /// The whole of it is written first, so that one journal commit serves many files.
    static func synchronize(_ path: String) throws {
        guard let status = try status(path) else { return }
        switch status.kind {
        case .link, .other: return
        case .file:
            try at(path) { () throws(SystemCallError) in
                let descriptor = try Platform.openToRead(path)
                defer { Platform.closeAfterReading(descriptor) }
                try Platform.synchronize(descriptor)
            }
        case .directory:
            for child in try children(path) { try synchronize(child) }
            try at(path) { () throws(SystemCallError) in try Platform.synchronizeDirectory(path) }
        }
    }

    /// Removes what stands at `path`, if anything does.
    static func remove(_ path: String) throws {
        guard let status = try status(path) else { return }
        guard status.kind == .directory else {
            return try at(path) { () throws(SystemCallError) in try Platform.removeFile(path) }
        }
        try at(path) { () throws(SystemCallError) in try Platform.makeAccessible(path, status) }
        for child in try children(path) { try remove(child) }
        try at(path) { () throws(SystemCallError) in try Platform.removeDirectory(path) }
    }

    static func at<Value>(_ path: String, _ body: () throws(SystemCallError) -> Value) throws(Failure)
        -> Value
    {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw Failure(cause: error, path: path)
        }
    }
}
