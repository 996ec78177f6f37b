import Testing

@testable import AppMigrations

/// What a start takes for the rest of a long history, so that it needn't read the whole.
@Suite struct HistoryEndTests {
    @Test(
        arguments: [
            ([#"{ "version" : "1" }"#], true, false), (["]"], true, false), (["]\n}\n"], true, true),
            (["{ }, ", "{ } ]", " \t\r\n", "}", "\n"], true, true), (["]}"], true, true),
            (["]}}"], false, true), (["]", "}", "}"], false, true), (["]]}"], false, false),
            (["],\"x\":1}"], false, false), (["]~"], false, false),
        ] as [([String], Bool, Bool)]
    )
    func `it is the rest of the last member and the end of the text, in whatever pieces`(
        pieces: [String],
        passes: Bool,
        isComplete: Bool
    ) {
        var end = HistoryEnd()
        let passed = pieces.allSatisfy { piece in Array(piece.utf8).withUnsafeBytes { end.passes($0) } }
        #expect(passed == passes)
        #expect(end.isComplete == isComplete)
    }
}
