extension SQLScript {
    /// Throws if a script also contains the statements that undo it.
    ///
    /// The files of goose, dbmate, sql-migrate and others contain both directions, each after a comment of a
    /// special form. A database ignores comments. So it would run both parts, and drop the table that it has
    /// just created.
    package func refuseBothDirections(isPostgres: Bool = false) throws(SQLError) {
        // Each of these comments contains "down", "undo" or "below". Most scripts contain none of these
        // words, so their tokens needn't be read, which takes long.
        if !["down", "undo", "below"].contains(where: containsIgnoringCase) { return }
        var tokens = SQLTokens(unread: self, isPostgres: isPostgres)
        while let (kind, range) = tokens.next() {
            // Only blanks and comments have no kind.
            if kind != nil { continue }
            var start = range.lowerBound
            for line in bytes[range].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                let text = String(decoding: line, as: UTF8.self)
                if Self.beginsUndoing(text) {
                    let marker = text.trimmingBlanks
                    throw error(
                        .invalidScript,
                        "The comment \"\(marker)\" begins the statements that undo the migration, but all statements of a script are"
                            + " run. Remove the comment and everything after it: applied migrations can't be undone",
                        at: start
                    )
                }
                start += line.count + 1
            }
        }
    }

    /// True if the text contains a word, in upper or lower case.
    ///
    /// `word` must be in lower case.
    private func containsIgnoringCase(_ word: String) -> Bool {
        let letters = Array(word.utf8)
        return bytes.indices.dropLast(letters.count).contains { start in
            letters.indices.allSatisfy { bytes[start + $0] | 0x20 == letters[$0] }
        }
    }

    /// True for a comment that begins the undo part in the files of a tool.
    ///
    /// These are goose, sql-migrate, micrate, dbmate, rambler, tern, shmig, MyBatis Migrations,
    /// node-pg-migrate, node-sqlite and the evolutions of Play.
    private static func beginsUndoing(_ comment: String) -> Bool {
        let text = comment.lowercased()
        guard text.contains("--") else { return false }
        let words = text.split { $0 == "-" || $0.isWhitespace }.map(String.init)
        switch words.first {
        case "+goose", "+migrate", "+micrate", "rambler": return words.dropFirst().first == "down"
        case "migrate:down", "//@undo", "@undo": return true
        case "====", "=====": return words.dropFirst().first == "down"
        case "create": return words == ["create", "above", "/", "drop", "below"]
        case "//": return words.dropFirst().first == "@undo"
        case "!downs": return true
        case "down": return words == ["down"] || words == ["down", "migration"]
        default: return false
        }
    }
}

extension String {
    /// The text without blanks at its ends.
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
