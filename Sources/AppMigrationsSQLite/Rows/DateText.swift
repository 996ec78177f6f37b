internal import AppMigrationsSQL

/// Dates as texts: `2026-11-21`, `2026-11-21 09:43`, `2026-11-21T09:43:05.25Z`, `2026-11-21 09:43:05+02:00`.
///
/// These are formats of SQLite's date functions (https://sqlite.org/lang_datefunc.html, time values 1 to 7),
/// and this type uses these functions to read them. A text without a time zone is in UTC.
struct DateText {
    static let from1970To2001 = 978_307_200.0

    /// Returns no row for a date that doesn't exist, such as February 30, or for 24:00.
    ///
    /// SQLite would read these as March 1 or 2 and as the next day. The modifier '+0 days' makes SQLite
    /// compute the real date, and the WHERE clause compares it with the text.
    private static let sql = """
        SELECT CAST(strftime('%s', ?1) AS INTEGER)
        WHERE strftime('%Y-%m-%d', substr(?1, 1, 10), '+0 days') = substr(?1, 1, 10)
            AND (length(?1) = 10 OR strftime('%H:%M', substr(?1, 12, 5), '+0 days') = substr(?1, 12, 5))
        """

    private let statement: SQLiteConnection.Statement

    init(_ db: SQLiteConnection) throws(SQLError) { statement = try db.prepare(Self.sql) }

    /// The seconds since 1970; `nil` if the text isn't a date, or is a date that doesn't exist.
    func secondsSince1970(_ text: String) throws(SQLError) -> Double? {
        var whole = text
        var fraction = 0.0
        // SQLite would round a fraction of a second to thousandths. So the fraction is parsed here, and
        // SQLite gets the text without it.
        if let dot = text.firstIndex(of: ".") {
            let digits = text[dot...].dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard text[..<dot].utf8.count == 19, !digits.isEmpty, let part = Double("0.\(digits)") else {
                return nil
            }
            whole = String(text[..<dot] + text[digits.endIndex...])
            fraction = part
        }
        // SQLite would stop reading at a zero byte, and accept the text before it.
        if whole.utf8.contains(0) { return nil }
        try statement.bind([.text(whole)])
        defer { statement.reset() }
        guard try statement.step(), case .integer(let seconds) = try statement.value(at: 0)
        else { return nil }
        return Double(seconds) + fraction
    }
}
