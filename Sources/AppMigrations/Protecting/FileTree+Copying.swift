extension FileTree {
    /// Copies what stands at `source`, if anything does, to `target`, where nothing stands: with owners, access lists,
    /// permissions and times, as far as they can be had.
    ///
    /// `beforeCopying` is called before each file whose blocks can't be shared. Gives how many things were copied.
    @inline(never)
    static func copy(
        _ source: String,
        to target: String,
        _ progress: CopyProgress,
        beforeCopying: () throws -> Void = {}
    ) throws -> Int {
        let copying = FileCopying(
            source: FileWalk(source),
            target: FolderTrail(target),
            name: FileName(target.utf8CString),
            progress: progress
        )
        return try copying.run(beforeCopying)
    }
}

/// A tree that is being copied to a new place, or put back over an old one.
struct FileCopying {
    private let source: FileWalk
    private let target: FolderTrail
    /// What the copy's top is called.
    private let name: FileName
    private let progress: CopyProgress

    /// The files that are in place already, with the right content; `nil` when a copy is made, and nothing is put back.
    private let unchanged: Set<FileIdentity>?

    init(
        source: FileWalk,
        target: FolderTrail,
        name: FileName,
        progress: CopyProgress,
        unchanged: Set<FileIdentity>? = nil
    ) {
        self.source = source
        self.target = target
        self.name = name
        self.progress = progress
        self.unchanged = unchanged
    }

    @discardableResult
    func run(_ beforeCopying: () throws -> Void = {}) throws -> Int {
        var count = 0
        while let step = try source.next() {
            switch step {
            case .entry(let name, let status):
                count += 1
                let copy = source.isAtTop ? self.name : name
                try reach(name)
                switch status.kind {
                case .other: throw FileTree.Obstacle.special(source.trail.path(name))
                case .link: try copyLink(name, copy, status)
                case .file: try copyFile(name, copy, beforeCopying)
                case .directory:
                    try source.enter(name)
                    try enterFolder(copy)
                }
                if status.kind != .file { progress.add(cost(of: status)) }
            case .end(let status):
                // Last, since each new file changes the folder's time, and a folder that has lost its rights takes no file.
                let (model, isStrict) = (source.trail.folder, unchanged == nil)
                try target.leave { folder throws(SystemCallError) in
                    try Platform.setAttributes(folder, as: status, of: model, strictly: isStrict)
                }
            case .left: continue
            }
        }
        return count
    }

    /// Says what is copied next: where it comes from, or where it is put back.
    private func reach(_ name: FileName) throws {
        try progress.reach {
            unchanged == nil
                ? source.trail.path(name) : target.path(source.isAtTop ? self.name : name)
        }
    }

    private var weight: UInt64 { unchanged == nil ? 1 : 2 }

    /// The comparison of a file that is there was counted when it was made.
    private func cost(of status: FileStatus, isThere: Bool = false) -> UInt64 {
        CopyProgress.Extent(status).cost * (isThere ? 1 : weight)
    }

    private func enterFolder(_ name: FileName) throws {
        let made = try make(name, isRight: { $0.kind == .directory }) { folder throws(SystemCallError) in
            try Platform.makeFolder(name, in: folder)
        }
        try target.enter(name)
        guard made != .made, let status = target.status else { return }
        // Files put into this folder would be hidden by the file system that is mounted there.
        if let above = target.above, !source.isEmpty,
            Platform.isMountPoint(target.folder, status, above: above)
        {
            throw FileTree.Obstacle.mountPoint(target.path())
        }
        try target.at { folder throws(SystemCallError) in try Platform.makeAccessible(folder, status) }
    }

    private enum Made { case made, present, kept }

    /// Makes something in the target.
    ///
    /// Where another process took the name meanwhile, its thing goes, if the name can be removed.
    private func make(
        _ name: FileName,
        isRight: (FileStatus) -> Bool,
        _ body: (Int32) throws(SystemCallError) -> Void
    ) throws -> Made {
        for _ in 0..<FileTree.patience {
            do throws(FileTree.Failure) {
                try target.at(name, body)
                return .made
            } catch {
                if !error.cause.isPresent || unchanged == nil { throw error }
            }
            guard let found = try target.find(name) else { continue }
            if isRight(found) { return .present }
            if try !remove(name, found) { return .kept }
        }
        return .kept
    }

    /// Whether it is gone; a file whose name stays can be written to.
    private func remove(_ name: FileName, _ found: FileStatus) throws -> Bool {
        do {
            let path = target.path(name)
            let mounted = try FileTree.remove(name, in: target.folder, path, above: target.holder())
            if let first = mounted.first { throw FileTree.Obstacle.mountPoint(first) }
            return true
        } catch let failure as FileTree.Failure where failure.cause.isKeptName && found.kind == .file {
            return false
        }
    }

    private func copyLink(_ name: FileName, _ copy: FileName, _ status: FileStatus) throws {
        let content = try source.trail.at(name) { folder throws(SystemCallError) in
            try Platform.linkContent(name, in: folder)
        }
        _ = try make(copy, isRight: isUnchanged) { folder throws(SystemCallError) in
            try Platform.makeLink(copy, in: folder, to: content)
        }
        try target.at(copy) { folder throws(SystemCallError) in
            try Platform.setAttributes(ofLink: copy, in: folder, as: status)
        }
    }

    private func copyFile(_ name: FileName, _ copy: FileName, _ beforeCopying: () throws -> Void) throws {
        let reader = try source.trail.at(name) { folder throws(SystemCallError) in
            try Platform.openToRead(name, in: folder)
        }
        defer { Platform.closeAfterReading(reader) }
        let status = try source.trail.at(name) { _ throws(SystemCallError) in try FileStatus(reader) }
        if status.kind != .file { throw FileTree.Obstacle.special(source.trail.path(name)) }
        let writer = try openCopy(name, copy)
        let cost = cost(of: status, isThere: writer.isThere)
        var counted: UInt64 = 0
        do {
            if !writer.isComplete {
                let isCloned = try target.at(copy) { _ throws(SystemCallError) in
                    try Platform.clone(reader, to: writer.descriptor)
                }
                if !isCloned {
                    try beforeCopying()
                    try FileTree.at(target.place(copy)) {
                        try Platform.copyContent(reader, to: writer.descriptor, status) { count in
                            // The file may have grown since it was counted.
                            let new = min(UInt64(count) * weight, cost - counted)
                            counted += new
                            progress.add(new)
                            try reach(name)
                        }
                    }
                }
            }
            let isStrict = unchanged == nil
            try target.at(copy) { _ throws(SystemCallError) in
                try Platform.setAttributes(writer.descriptor, as: status, of: reader, strictly: isStrict)
            }
        } catch {
            Platform.closeAfterReading(writer.descriptor)
            throw error
        }
        try target.at(copy) { _ throws(SystemCallError) in
            try Platform.closeAfterWriting(writer.descriptor)
        }
        progress.add(cost - counted)
        // A file whose blocks are shared has no parts that could be told of.
        try reach(name)
    }

    /// Opens the file that becomes the copy; `isComplete` where it has the right content already, and `isThere` where it had
    /// that before.
    private func openCopy(
        _ name: FileName,
        _ copy: FileName
    ) throws -> (descriptor: Int32, isComplete: Bool, isThere: Bool) {
        var descriptor: Int32 = -1
        var isComplete = false
        let sourceFolder = source.trail.folder
        let made = try make(copy, isRight: isUnchanged) { folder throws(SystemCallError) in
            isComplete = try Platform.cloneFile(name, in: sourceFolder, to: copy, in: folder)
            descriptor =
                try isComplete
                ? Platform.openToRead(copy, in: folder) : Platform.create(copy, in: folder)
        }
        switch made {
        case .made: return (descriptor, isComplete, false)
        case .present:
            return (
                try target.at(copy) { folder throws(SystemCallError) in try openUnchanged(copy, folder) },
                true,
                true
            )
        case .kept:
            return try target.at(copy) { folder throws(SystemCallError) in
                (try Platform.openToOverwrite(copy, in: folder), false, false)
            }
        }
    }

    private func isUnchanged(_ status: FileStatus) -> Bool { unchanged?.contains(status.identity) == true }

    private func openUnchanged(_ copy: FileName, _ folder: Int32) throws(SystemCallError) -> Int32 {
        let descriptor = try Platform.openToRead(copy, in: folder)
        do throws(SystemCallError) {
            // Under its name could be another file by now.
            if try isUnchanged(FileStatus(descriptor)) { return descriptor }
            throw Platform.moved
        } catch {
            Platform.closeAfterReading(descriptor)
            throw error
        }
    }
}
