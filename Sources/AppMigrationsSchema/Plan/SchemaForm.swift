internal import AppMigrationsSQLite
internal import CAppMigrationsSQLite

/// Normalizes the `CREATE` statements of two schemas to compare them.
///
/// Statements with different meanings never get the same form, but statements with the same meaning may get
/// different ones. Names keep their case, because the names of result columns show it. The case of keywords
/// is ignored, and in tables and indexes also the case of other words, such as types.
struct SchemaForm {
    /// The names of objects and columns, as they are written.
    private let names: Set<ArraySlice<UInt8>>
    /// The names that are also keywords, in lowercase.
    private let keywords: Set<ArraySlice<UInt8>>

    init(_ first: SchemaSnapshot, _ second: SchemaSnapshot) {
        var names = Set<ArraySlice<UInt8>>()
        for object in first.objects + second.objects {
            names.insert(ArraySlice(object.name.text.utf8))
            guard object.kind == .table, let sql = object.sql, let statement = CreateStatement(sql) else {
                continue
            }
            for item in statement.items {
                if let name = statement.tokens.name(item.lowerBound) {
                    names.insert(ArraySlice(name.text.utf8))
                }
            }
        }
        self.names = names
        let folded = names.map { ArraySlice($0.map(SQLName.folded)) }
        keywords = Set(folded.filter { SQLName.isKeyword($0) })
    }

    func areSame(_ first: SchemaObject, _ second: SchemaObject) -> Bool {
        if first.isWritten(like: second) { return true }
        guard let sql = first.sql, let text = second.sql, first.kind == second.kind else { return false }
        return form(of: sql, ofKind: first.kind) == form(of: text, ofKind: second.kind)
    }

    /// The normalized tokens of a statement, each followed by a zero byte.
    private func form(of sql: String, ofKind kind: SchemaObject.Kind) -> [UInt8] {
        let tokens = SQLTokens(sql)
        var form = [UInt8]()
        form.reserveCapacity(tokens.count + tokens.tokens.count)
        for (index, token) in tokens.tokens.enumerated() {
            let text = tokens.bytes[token.range]
            // A word after DEFAULT may be a string literal, so its case matters.
            let isDefault = index > 0 && tokens.isWord(index - 1, "DEFAULT")
            switch token.kind {
            case _ where isDefault: form += text
            case _ where index > 0 && tokens.isWord(index - 1, "CONSTRAINT"):
                // The case of a constraint's name is ignored, because only error messages show the name.
                form += (tokens.name(index)?.key ?? Array(text))
            case .text, .other: form += text
            case .word where kind == .view && isResultColumnName(index, in: tokens): form += text
            case .word: add(text, isQuoted: false, ofKind: kind, to: &form)
            case .quoted, .name:
                let name = tokens.name(index).map { ArraySlice($0.text.utf8) } ?? text
                if kind == .view, isResultColumnName(index, in: tokens) {
                    form += name
                } else if token.kind == .quoted, !names.contains(name), !isAlwaysName(index, in: tokens) {
                    // This isn't a known name, so it may be a string literal in double quotes.
                    form += text
                } else {
                    add(name, isQuoted: true, ofKind: kind, to: &form)
                }
            }
            form.append(0)
        }
        return form
    }

    /// True if SQLite's grammar allows only a name here, so that double quotes can't mean a string literal.
    private func isAlwaysName(_ index: Int, in tokens: SQLTokens) -> Bool {
        if tokens.isSign(index + 1, ".") || tokens.isSign(index + 1, "(") { return true }
        if index == 0 { return false }
        let words: [StaticString] = ["COLLATE", "REFERENCES", "AS"]
        if tokens.isSign(index - 1, ".") || words.contains(where: { tokens.isWord(index - 1, $0) }) {
            return true
        }
        // The columns of a parent table: REFERENCES p("a", "b").
        var start = index
        while start > 1, tokens.isSign(start - 1, ",") { start -= 2 }
        return start > 2 && tokens.isSign(start - 1, "(") && tokens.isWord(start - 3, "REFERENCES")
    }

    /// True for the name of a view's result column, which may be a keyword: `SELECT id AS key`.
    ///
    /// Such a name is in the list after the view's name, or follows an AS in the query. SQLite stores a view
    /// as `CREATE VIEW name`, so the token 3 is the beginning of the list, or the AS before the query.
    private func isResultColumnName(_ index: Int, in tokens: SQLTokens) -> Bool {
        let body = tokens.isSign(3, "(") ? tokens.end(ofParenthesisAt: 3) ?? 3 : 3
        return index > body ? index > body + 1 && tokens.isWord(index - 1, "AS") : index > 3
    }

    /// Adds a word or a name to a form.
    ///
    /// A keyword is added in lowercase, unless the schemas have it as a name. A name of the schemas keeps its
    /// case, and so does every other word of a view or a trigger. A quoted name that is also a keyword gets a
    /// backtick. Any other word of a table or an index is added in lowercase, with a "~".
    private func add(
        _ word: ArraySlice<UInt8>,
        isQuoted: Bool,
        ofKind kind: SchemaObject.Kind,
        to form: inout [UInt8]
    ) {
        let start = form.count
        for byte in word { form.append(SQLName.folded(byte)) }
        let isKeyword = SQLName.isKeyword(form[start...])
        if isKeyword, !isQuoted {
            guard keywords.contains(form[start...]) else { return }
            // An object or a column has this keyword as its name. The word here may be the keyword or the
            // name, so it keeps its case.
            form.removeSubrange(start...)
            form += word
            return
        }
        if isKeyword || kind == .view || kind == .trigger || names.contains(word) {
            form.removeSubrange(start...)
            if isKeyword { form.append(UInt8(ascii: "`")) }
            form += word
        } else {
            // The "~" distinguishes a type from a lowercase name.
            form.append(UInt8(ascii: "~"))
        }
    }
}

extension SQLName {
    /// True for a lowercase word that is a keyword ("SQLite Keywords"), or that has another special meaning
    /// in SQLite.
    static func isKeyword(_ word: ArraySlice<UInt8>) -> Bool {
        let isOfGrammar = word.withUnsafeBytes { bytes in
            let text = bytes.bindMemory(to: CChar.self)
            return sqlite3_keyword_check(text.baseAddress, Int32(text.count)) != 0
        }
        return isOfGrammar || ["rowid", "stored", "strict"].contains { word.elementsEqual($0.utf8) }
    }

    /// True if the name contains `letters`, ignoring the case of ASCII letters; `letters` must be lowercase.
    func contains(_ letters: StaticString) -> Bool {
        let count = letters.utf8CodeUnitCount
        return key.indices.dropLast(count - 1).contains { start in
            (0..<count).allSatisfy { key[start + $0] == letters.utf8Start[$0] }
        }
    }

    /// The name in backticks.
    ///
    /// SQLite never treats it as a string literal, not even if there is no such column.
    var inBackticks: String { text.quoted(with: "`") }

    /// The name as a person writes it in SQL: in quotes only if it needs them.
    var quotedIfNeeded: String {
        let isPlain = key.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let isWord = key.allSatisfy(SQLTokens.isWordByte) && !key.contains(UInt8(ascii: "$"))
        return isPlain && isWord && !Self.isKeyword(key[...]) ? text : inBackticks
    }
}
