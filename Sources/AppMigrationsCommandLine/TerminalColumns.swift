extension String {
    /// The beginning of the text that needs at most this number of columns of a terminal.
    ///
    /// No character is cut.
    func fitting(columns limit: Int) -> String {
        var columns = 0
        let end = indices.first { index in
            columns += self[index].terminalColumns
            return columns > limit
        }
        return String(self[..<(end ?? endIndex)])
    }
}

extension Character {
    /// The number of columns of a terminal that the character needs at most.
    ///
    /// Terminals differ. Many of them draw the emoji of a sequence, such as the members of a family, one
    /// beside the other. So each scalar counts by itself.
    fileprivate var terminalColumns: Int {
        let columns = unicodeScalars.reduce(0) { $0 + $1.terminalColumns }
        // The variation selector 16 asks for the emoji of a symbol, such as a heart, and emoji are wide.
        return unicodeScalars.contains("\u{FE0F}") ? max(columns, 2) : columns
    }
}

extension Unicode.Scalar {
    fileprivate var terminalColumns: Int {
        switch properties.generalCategory {
        // Combining marks with the variation selectors, and invisible characters such as the joiner of emoji.
        case .nonspacingMark, .enclosingMark, .format: 0
        default: properties.isEmojiPresentation || Self.wide.contains { $0 ~= value } ? 2 : 1
        }
    }

    /// The scalars that East Asian fonts draw over two columns.
    ///
    /// They have the values W and F in Unicode's file EastAsianWidth.txt. Emoji are left out, because the
    /// standard library knows them. A few unassigned scalars between the ranges are in them.
    ///
    /// The C library's `wcwidth` knows no scalar outside of ASCII if the process didn't choose a locale.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul Jamo that begin a syllable
        0x2329...0x232A,  // angle brackets
        0x2E80...0x303E,  // CJK radicals and punctuation
        0x3041...0xA4CF,  // Hiragana, Katakana, Bopomofo, CJK ideographs, Yi
        0xA960...0xA97C,  // more Hangul Jamo
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // CJK compatibility ideographs
        0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
        0xFF01...0xFF60, 0xFFE0...0xFFE6,  // full-width forms
        0x16FE0...0x1B2FF,  // Tangut, Khitan, Nushu, more Kana
        0x1D300...0x1D376,  // symbols of the Tai Xuan Jing and counting rods
        0x1F200...0x1F265,  // ideographs in squares and circles
        0x20000...0x3FFFD,  // more CJK ideographs
    ]
}
