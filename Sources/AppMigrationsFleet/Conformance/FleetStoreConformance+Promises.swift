/// The promises, of one call after the other first, and of many hosts at once last.
extension FleetStoreConformance {
    func absence() async throws -> String? {
        for (number, store) in hosts.enumerated() {
            if let found = try await store.document(named: "\(prefix)-absent") {
                return "Host \(number) read \(found.bytes.count) bytes of a document that was never written."
            }
        }
        return nil
    }

    func creation() async throws -> String? {
        let name = "\(prefix)-creation"
        let first = try await make(name, "first")
        if try await host(1).replaceDocument(named: name, ifRevision: nil, with: Array("second".utf8)) != nil
        {
            return
                "A second document was made over the first: replaceDocument with ifRevision nil gave a revision."
        }
        return try await other(name, than: "first", at: first).map {
            "After a second creation was refused, the document is not the first: \($0)."
        }
    }

    func comparison() async throws -> String? {
        let name = "\(prefix)-comparison"
        if try await host(0).replaceDocument(
            named: name,
            ifRevision: FleetRevision(1),
            with: Array("early".utf8)
        ) != nil {
            return "A document was replaced that isn't there."
        }
        let first = try await make(name, "first")
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
        return try await other(name, than: "second", at: second).map {
            "After a replacement was refused, the document has changed: \($0)."
        }
    }

    func revisions() async throws -> String? {
        let name = "\(prefix)-revisions"
        var seen = [try await make(name, "a")]
        for step in 1...20 {
            // Equal bytes again and again: a revision that is made of them comes back.
            let text = ["a", "b", "b"][step % 3]
            guard let last = seen.last,
                let next = try await host(step).replaceDocument(
                    named: name,
                    ifRevision: last,
                    with: Array(text.utf8)
                )
            else { return "The document was not replaced at its own revision." }
            if seen.contains(next) { return "Revision \(next) was given twice." }
            seen.append(next)
        }
        return nil
    }

    func freshness() async throws -> String? {
        let name = "\(prefix)-freshness"
        var revision = try await make(name, "0")
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
                if let other = try await other(name, than: "\(step)", at: revision, host: number) {
                    return "Host \(number) read \(other) after step \(step) was written."
                }
            }
        }
        return nil
    }

    func bytes() async throws -> String? {
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
            if revision == nil || found?.bytes != written {
                return "\(written.count) bytes came back as \(self.text(found)): text \(number + 1)."
            }
        }
        return nil
    }

    func names() async throws -> String? {
        let endings = [
            "a", "A", "a ", " a", "a.", "a/b", "a%2Fb", "a%b", "a\\b", "../a", "a'b", "a\"b", "a\nb",
            "é", "e\u{301}", "日本", "👩‍👩‍👧", "a_b", "a-b", "a*b", "a:b", "$1",
            String(repeating: "n", count: 200 - prefix.count),
        ]
        var revisions: [FleetRevision] = []
        for (number, ending) in endings.enumerated() {
            revisions.append(try await make(prefix + ending, "\(number)", host: number))
        }
        for (number, ending) in endings.enumerated() {
            let name = prefix + ending
            let revision = revisions[number]
            if let other = try await other(name, than: "\(number)", at: revision, host: number + 1) {
                return "The document \"\(ending)\" reads as \(other)."
            }
        }
        return nil
    }

    func errors() async throws -> String? {
        guard let unreachable else { return nil }
        let name = "\(prefix)-errors"
        do {
            let found = try await unreachable.document(named: name)
            return "A store that can't be reached read \(text(found)) instead of throwing."
        } catch {}
        do {
            let revision = try await unreachable.replaceDocument(
                named: name,
                ifRevision: nil,
                with: [0x7B, 0x7D]
            )
            let answer = revision.map { "revision \($0)" } ?? "nil"
            return "A store that can't be reached answered a replacement with \(answer) instead of throwing."
        } catch {
            return nil
        }
    }

    func concurrency() async throws -> String? {
        let name = "\(prefix)-crowd"
        let made = try await crowd { number in
            try await host(number).replaceDocument(named: name, ifRevision: nil, with: Array("0".utf8)).map {
                [$0]
            } ?? []
        }
        if made.count != 1 { return "\(made.count) of \(writers) hosts that made one document at once did." }
        let revisions = try await crowd { number in
            var won: [FleetRevision] = []
            // Somebody wins each time, so that nobody has to try this often.
            for _ in 1...(50 * writers * rounds) where won.count < rounds {
                guard let found = try await host(number).document(named: name),
                    let count = Int(String(decoding: found.bytes, as: UTF8.self))
                else { throw refused(name) }
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
            return "\(expected) replacements gave \(Set(revisions).count) different revisions."
        }
        let found = try await host(0).document(named: name)
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

    /// The document as a host reads it, where that isn't this text at this revision.
    private func other(
        _ name: String,
        than text: String,
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
