/// The tests. Each returns a description of the problem, or `nil` if the store keeps the promise.
extension FleetStoreConformance {
    func checkAbsence() async throws -> String? {
        for (number, store) in hosts.enumerated() {
            if let found = try await store.document(named: "\(prefix)-absent") {
                return "Host \(number) read \(found.bytes.count) bytes of a document that was never written."
            }
        }
        return nil
    }

    func checkCreation() async throws -> String? {
        let name = "\(prefix)-creation"
        let first = try await create(name, text: "first")
        if try await host(1).replaceDocument(named: name, ifRevision: nil, with: Array("second".utf8)) != nil
        {
            return
                "A second document was created over the first: replaceDocument with ifRevision nil returned a revision."
        }
        return try await mismatch(in: name, with: "first", at: first).map {
            "After a second creation was refused, the document is not the first: \($0)."
        }
    }

    func checkComparison() async throws -> String? {
        let name = "\(prefix)-comparison"
        if try await host(0).replaceDocument(
            named: name,
            ifRevision: FleetRevision(1),
            with: Array("early".utf8)
        ) != nil {
            return "replaceDocument returned a revision for a document that doesn't exist."
        }
        let first = try await create(name, text: "first")
        let next = try await host(0).replaceDocument(
            named: name,
            ifRevision: first,
            with: Array("second".utf8)
        )
        guard let second = next else { return "The document was not replaced at its own revision." }
        for wrong in [first, FleetRevision("\(second)0"), FleetRevision("no revision")] {
            if try await host(1).replaceDocument(named: name, ifRevision: wrong, with: Array("third".utf8))
                != nil
            {
                return "The document of revision \(second) was replaced at \(wrong)."
            }
        }
        return try await mismatch(in: name, with: "second", at: second).map {
            "After a replacement was refused, the document has changed: \($0)."
        }
    }

    func checkRevisions() async throws -> String? {
        let name = "\(prefix)-revisions"
        var seen = [try await create(name, text: "a")]
        for step in 1...20 {
            // Some of these documents have the same bytes. A revision that is made from the bytes would be
            // used twice.
            let text = ["a", "b", "b"][step % 3]
            guard let last = seen.last,
                let next = try await host(step).replaceDocument(
                    named: name,
                    ifRevision: last,
                    with: Array(text.utf8)
                )
            else { return "The document was not replaced at its own revision." }
            if seen.contains(next) { return "Revision \(next) was used twice." }
            seen.append(next)
        }
        return nil
    }

    func checkFreshness() async throws -> String? {
        let name = "\(prefix)-freshness"
        var revision = try await create(name, text: "0")
        for step in 1...(4 * hosts.count) {
            let next = try await host(step).replaceDocument(
                named: name,
                ifRevision: revision,
                with: Array("\(step)".utf8)
            )
            guard let next else {
                return "Host \(step % hosts.count) was refused at the revision that another host had written."
            }
            revision = next
            for number in hosts.indices {
                if let found = try await mismatch(in: name, with: "\(step)", at: revision, host: number) {
                    return "Host \(number) read \(found) after step \(step) was written."
                }
            }
        }
        return nil
    }

    func checkBytes() async throws -> String? {
        var texts = [
            "{\n  \"name\" : \"x\"\n}\n", " leading and trailing \t\r\n\r\n",
            "'quoted' \"twice\" \\ $1 ?1 :a @b %s",
            "naïve e\u{301} 日本語 👩‍👩‍👧 \u{FEFF}\u{2028}\u{FFFF}\u{10FFFF}", "\u{1}\u{2}\u{7F}\u{85}",
        ]
        for size in [65_535, 65_536, 1 << 20] {
            texts.append(String(String(repeating: "0123456789abcdef\n", count: size / 17 + 1).prefix(size)))
        }
        let name = "\(prefix)-bytes"
        var revision: FleetRevision?
        for (number, text) in texts.enumerated() {
            let written = Array(text.utf8)
            revision = try await host(number).replaceDocument(
                named: name,
                ifRevision: revision,
                with: written
            )
            let found = try await host(number + 1).document(named: name)
            if revision == nil { return "Text \(number + 1) of \(written.count) bytes was refused." }
            if found?.bytes != written {
                return "Text \(number + 1) of \(written.count) bytes was read as \(self.text(found))."
            }
        }
        return nil
    }

    func checkNames() async throws -> String? {
        let endings = [
            "a", "A", "a ", " a", "a.", "a/b", "a%2Fb", "a%b", "a\\b", "../a", "a'b", "a\"b", "a\nb",
            "é", "e\u{301}", "日本", "👩‍👩‍👧", "a_b", "a-b", "a*b", "a:b", "$1",
            String(repeating: "n", count: 200 - prefix.count),
        ]
        var revisions: [FleetRevision] = []
        for (number, ending) in endings.enumerated() {
            revisions.append(try await create(prefix + ending, text: "\(number)", host: number))
        }
        for (number, ending) in endings.enumerated() {
            let name = prefix + ending
            let revision = revisions[number]
            if let found = try await mismatch(in: name, with: "\(number)", at: revision, host: number + 1) {
                return "The document \"\(ending)\" reads as \(found)."
            }
        }
        return nil
    }

    func checkErrors() async throws -> String? {
        guard let unreachable else { return nil }
        let name = "\(prefix)-errors"
        do {
            let found = try await unreachable.document(named: name)
            return "document(named:) of the unreachable store returned \(text(found)) instead of throwing."
        } catch {}
        do {
            let revision = try await unreachable.replaceDocument(
                named: name,
                ifRevision: nil,
                with: [0x7B, 0x7D]
            )
            let answer = revision.map { "revision \($0)" } ?? "nil"
            return "replaceDocument of the unreachable store returned \(answer) instead of throwing."
        } catch {
            return nil
        }
    }

    func checkConcurrency() async throws -> String? {
        let name = "\(prefix)-crowd"
        let made = try await runWriters { number in
            try await host(number).replaceDocument(named: name, ifRevision: nil, with: Array("0".utf8)).map {
                [$0]
            } ?? []
        }
        if made.count != 1 {
            return
                "\(writers) tasks tried to create the same document at once, and \(made.count) succeeded instead of one."
        }
        let revisions = try await runWriters { number in
            var won: [FleetRevision] = []
            // One of the tasks succeeds each time, so none of them needs so many tries. The limit ends the
            // test of a store that refuses all of them.
            for _ in 1...(50 * writers * rounds) where won.count < rounds {
                let current = try await host(number).document(named: name)
                guard let found = current, let count = Int(String(decoding: found.bytes, as: UTF8.self))
                else {
                    throw FleetStoreFinding(
                        of: .concurrency,
                        description: "Host \(number % hosts.count) read \(text(current)) instead of a number."
                    )
                }
                let next = Array("\(count + 1)".utf8)
                let revision = try await host(number).replaceDocument(
                    named: name,
                    ifRevision: found.revision,
                    with: next
                )
                if let revision { won.append(revision) }
            }
            return won
        }
        let expected = writers * rounds
        if Set(revisions).count != expected {
            return "\(expected) replacements returned \(Set(revisions).count) different revisions."
        }
        let found = try await host(0).document(named: name)
        if found?.bytes != Array("\(expected)".utf8) {
            return
                "\(writers) tasks added 1 to a number \(expected) times in all, but the document reads \(text(found))."
        }
        return nil
    }

    /// Runs the body in several tasks at once, and returns all their revisions.
    private func runWriters(
        _ body: @escaping @Sendable (_ number: Int) async throws -> [FleetRevision]
    ) async throws -> [FleetRevision] {
        try await withThrowingTaskGroup(of: [FleetRevision].self) { group in
            for number in 0..<writers { group.addTask { try await body(number) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Describes the document that a host reads, or returns `nil` if it is this text at this revision.
    private func mismatch(
        in name: String,
        with text: String,
        at revision: FleetRevision,
        host number: Int = 0
    ) async throws -> String? {
        let found = try await host(number).document(named: name)
        return found == FleetDocument(bytes: Array(text.utf8), revision: revision) ? nil : self.text(found)
    }

    private func text(_ document: FleetDocument?) -> String {
        guard let document else { return "nothing" }
        let text = String(decoding: document.bytes.prefix(60), as: UTF8.self)
        return "\"\(text)\", \(document.bytes.count) bytes of revision \(document.revision)"
    }
}
