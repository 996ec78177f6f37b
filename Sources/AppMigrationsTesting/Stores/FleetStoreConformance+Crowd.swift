internal import AppMigrationsFleet

/// The promises of many hosts at once.
extension FleetStoreConformance {
    func concurrency() async throws -> String? {
        let name = "\(prefix)-crowd"
        let made = try await crowd { number in
            try await host(number).replace(name, at: nil, with: Array("0".utf8)).map { [$0] } ?? []
        }
        if made.count != 1 { return "\(made.count) of \(writers) hosts that made one document at once did." }
        let revisions = try await crowd { number in
            var won: [FleetRevision] = []
            // Somebody wins each time, so that nobody has to try this often.
            for _ in 1...(50 * writers * rounds) where won.count < rounds {
                guard let found = try await host(number).read(name),
                    let count = Int(String(decoding: found.bytes, as: UTF8.self))
                else { throw Refused(name: name) }
                let next = Array("\(count + 1)".utf8)
                let revision = try await host(number).replace(name, at: found.revision, with: next)
                if let revision { won.append(revision) }
            }
            return won
        }
        let expected = writers * rounds
        if Set(revisions).count != expected {
            return "\(expected) replacements gave \(Set(revisions).count) different revisions."
        }
        let found = try await host(0).read(name)
        if found?.bytes != Array("\(expected)".utf8) {
            return
                "\(expected) replacements by \(writers) tasks, each of which counted one more, came to \(text(found))."
        }
        return nil
    }

    private func crowd(
        _ body: @escaping @Sendable (_ number: Int) async throws -> [FleetRevision]
    ) async throws -> [FleetRevision] {
        try await withThrowingTaskGroup(of: [FleetRevision].self) { group in
            for number in 0..<writers { group.addTask { try await body(number) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
