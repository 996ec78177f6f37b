/// A script of statements that work on the table `a`, with what is hard to split in it, and often with a mistake.
struct RandomScript {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> String {
        var tokens = [String]()
        for _ in 0...Int.random(in: 0..<5, using: &random) {
            tokens += statement()
            if !random.hits(oneIn: 30) { tokens.append(";") }
        }
        let isMutated = random.hits(oneIn: 3)
        if isMutated { for _ in 0...Int.random(in: 0..<2, using: &random) { mutate(&tokens) } }
        var script = ""
        for token in tokens { script += token + blank(rarelyNone: true) }
        if isMutated, random.hits(oneIn: 2) {
            var scalars = Array(script.unicodeScalars)
            for _ in 0...Int.random(in: 0..<2, using: &random) { mutate(&scalars) }
            script = String(String.UnicodeScalarView(scalars))
        }
        return script
    }

    private mutating func mutate<Element>(_ elements: inout [Element]) {
        guard let place = elements.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: elements.remove(at: place)
        case 1: elements.insert(elements[place], at: Int.random(in: elements.indices, using: &random))
        default: elements.swapAt(place, Int.random(in: elements.indices, using: &random))
        }
    }

    private mutating func blank(rarelyNone: Bool = false) -> String {
        if rarelyNone, random.hits(oneIn: 40) { return "" }
        if random.hits(oneIn: 2) { return " " }
        return random.element(of: [
            "\n", "\t", "\r\n", "\u{0C}", " -- it's ; \"\n", "--\r", "/* ; */", "/* /* ' */ $$ */", "/**/",
            "/*/**/*/",
            " --/*\n", "\n-- ; */ $a$\n",
        ])
    }
}

extension RandomScript {
    private mutating func statement() -> [String] {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1, 2, 3: ["INSERT", "INTO", "a", "VALUES", "("] + number() + [","] + text() + [")"]
        case 4, 5, 6: ["SELECT"] + expression() + [","] + text() + label()
        case 7: ["UPDATE", "a", "SET", "t", "=", "t", "||"] + text()
        case 8, 9, 10: routine(depth: 0)
        case 11:
            ["CREATE", "FUNCTION", "g", "(", ")", "RETURNS", "int", "LANGUAGE", "sql", "AS"]
                + dollar("SELECT 1;")
        case 12: ["DO"] + dollar("BEGIN INSERT INTO a VALUES (1, ';'); END")
        case 13:
            [
                "CREATE", "RULE", "r", "AS", "ON", "DELETE", "TO", "a", "DO", "ALSO", "(", "INSERT", "INTO",
                "a", "VALUES", "(",
            ]
                + number() + [","] + text() + [")", ";", "SELECT"] + text() + [")"]
        case 14: ["COMMENT", "ON", "TABLE", "a", "IS"] + text()
        default: rare()
        }
    }

    private mutating func rare() -> [String] {
        random.element(of: [
            [], [";"], ["SELECT", "begin", ".", "x", "atomic", "FROM", "a", "begin"], ["SELECT", "$1"],
            ["\\d", "a"],
            ["COPY", "a", "FROM", "stdin"], ["COPY", "(", "SELECT", "1", ")", "TO", "stdout"],
            ["SELECT", "1", "/", "0"],
            ["SELECT", "x$", ".", "x", "e$$", "FROM", "a", "x$"], ["SELECT", "1.e2", "$$;$$"],
            ["SELECT", "1", "end"],
            ["CREATE", "FUNCTION", "d", "(", ")", "RETURNS", "atomic", "RETURN", "1"],
            ["CREATE", "FUNCTION", "h", "(", "int", ")", "RETURNS", "int", "RETURN", "$1", "+", "1"],
            ["SELECT", "1e5E';'"],
            ["CREATE", "TABLE", "\"BEGIN ; ATOMIC\"", "(", "\"a;\"\"\"", "int", ")"],
            ["SELECT", "'a'", "E'\\';'"],
        ])
    }

    private mutating func routine(depth: Int) -> [String] {
        let isProcedure = random.hits(oneIn: 3)
        var tokens = ["CREATE"] + (random.hits(oneIn: 2) ? ["OR", "REPLACE"] : [])
        tokens += [isProcedure ? "PROCEDURE" : "FUNCTION", isProcedure ? "p" : "f", "(", ")"]
        if !isProcedure { tokens += ["RETURNS", "text"] }
        tokens += random.element(of: [
            ["BEGIN", "ATOMIC"], ["begin", "Atomic"], ["LANGUAGE", "sql", "BEGIN", "ATOMIC"],
        ])
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: tokens += [";"]
            case 1 where depth == 0: tokens += routine(depth: 1) + [";"]
            case 2:
                tokens += ["INSERT", "INTO", "a", "VALUES", "("] + number() + [","] + text() + [")", ";"]
            default: tokens += ["SELECT"] + expression() + label() + [";"]
            }
        }
        if !isProcedure { tokens += ["SELECT"] + text() + [";"] }
        return tokens + [random.hits(oneIn: 2) ? "END" : "end"]
    }

    private mutating func label() -> [String] {
        random.element(of: [
            [], ["AS", "begin"], ["AS", "end"], ["end"], ["AS", "case"], ["AS", "\"a;b\""],
            ["AS", "\"END\""], ["a$b$"],
            ["AS", "é"], ["U&\"\\0061;\""],
        ])
    }

    private mutating func expression() -> [String] {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: number()
        case 1: ["("] + number() + ["+"] + number() + [")"]
        case 2: ["CASE", "WHEN"] + text() + ["="] + text() + ["THEN"] + expression() + ["END"]
        case 3: ["CASE"] + number() + ["WHEN", "1", "THEN", "NULL", "ELSE", "("] + number() + [")", "END"]
        default: ["("] + text() + [")"]
        }
    }

    private mutating func number() -> [String] {
        [random.element(of: ["1", "2", "1.5", ".5", "1.", "1e2", "2.5E+1", "-3", "1/**/", "+--;\n4"])]
    }

    /// A text in any of the ways to write one.
    private mutating func text() -> [String] {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return ["'" + content().replacing("'", with: "''") + "'"]
        case 2: return [(random.hits(oneIn: 2) ? "E'" : "e'") + escaped() + "'"]
        case 3: return ["E'" + escaped() + "'" + continuation() + "'" + escaped() + "'"]
        case 4: return ["'" + content().replacing("'", with: "''") + "'" + continuation() + "'\\'"]
        case 5: return ["U&'" + random.element(of: ["\\0041;", "\\\\", ";''"]) + "'"]
        default: return dollar(content())
        }
    }

    private mutating func continuation() -> String {
        random.element(of: ["\n", " \n\t", "--;'\n", "\r\n--a\n \n", "\u{0C}\n", "\n--\r", "\r"])
    }

    private mutating func escaped() -> String {
        random.element(of: ["\\'", "''", "\\\\", "\\n;", "\\x41", "\\101", ";", "\\\\\\';"])
            + content().replacing("\\", with: "")
            .replacing("'", with: "\\'")
    }

    private mutating func dollar(_ content: String) -> [String] {
        let tag = random.element(of: ["$$", "$a$", "$A_1$", "$é$", "$_$"])
        return [tag + content.replacing(tag, with: "") + tag]
    }

    private mutating func content() -> String {
        var content = ""
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            content += random.element(of: [
                ";", "'", "\"", "\\", "$", "$$", "$a$", "$A_1$", "--", "/*", "*/", "\n", "\r", "e", "é", "😀",
                "(", ")", " ",
                "END", "BEGIN ATOMIC", "a", "$1", "\u{0B}",
            ])
        }
        return content
    }
}
