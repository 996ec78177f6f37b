internal import AppMigrationsSQLite

/// Dates as texts: `2026-11-21`, `2026-11-21 09:43`, `2026-11-21T09:43:05.25Z`, `2026-11-21 09:43:05+02:00`.
///
/// They are the forms that SQLite's own functions read ("Date And Time Functions", Time Values 1 to 7), in UTC where they name
/// no other zone, and SQLite reads them.
struct DateText {
    static let from1970To2001 = 978_307_200.0

    /// SQLite takes February 30 for March 1 or 2, and 24:00 for the next day: such a text is not what comes back, once a modifier
    /// has had the date computed.
    private static let sql = """
        SELECT CAST(strftime('%s', ?1) AS INTEGER)
        WHERE strftime('%Y-%m-%d', substr(?1, 1, 10), '+0 days') = substr(?1, 1, 10)
            AND (length(?1) = 10 OR strftime('%H:%M', substr(?1, 12, 5), '+0 days') = substr(?1, 12, 5))
        """

    private let reading: SQLiteConnection.Statement

    init(_ db: SQLiteConnection) throws(SQLError) { reading = try db.prepare(Self.sql) }

    /// The seconds since 1970; `nil` for a text that is no date of the calendar.
    func secondsSince1970(_ text: String) throws(SQLError) -> Double? {
        var (whole, fraction) = (text, 0.0)
        // SQLite rounds a second to thousandths.
        if let dot = text.firstIndex(of: ".") {
            let digits = text[dot...].dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard text[..<dot].utf8.count == 19, !digits.isEmpty, let part = Double("0.\(digits)") else {
                return nil
            }
            (whole, fraction) = (String(text[..<dot] + text[digits.endIndex...]), part)
        }
        // It would read no further than to a zero byte.
        if whole.utf8.contains(0) { return nil }
        try reading.bind([.text(whole)])
        defer { reading.reset() }
        guard try reading.step(), let seconds = reading.integer(at: 0) else { return nil }
        return Double(seconds) + fraction
    }
}
