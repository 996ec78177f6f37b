/// Converts between seconds since 1970 and text such as `2026-11-21T03:54:28Z`.
///
/// It calculates with the proleptic Gregorian calendar. It doesn't use `strftime` of the C library, which
/// would open the time-zone file even for a date in UTC.
package enum Timestamp {
    private static let daysIn400Years = 146_097

    /// The number of days from 1 March of the year -400 to 1 January 1970.
    ///
    /// Days are counted from that date, so that no day in the range ``supportedSeconds`` has a negative
    /// number.
    private static let daysTo1970 = 719_468 + daysIn400Years

    /// The range of seconds in the years 0000 to 9999, which are the years that four digits can hold.
    private static let supportedSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Writes a time.
    ///
    /// A time outside ``supportedSeconds`` is clamped to the first or the last second of that range.
    ///
    /// The parameter is an `Int64` because an `Int` has only 32 bits on some watches.
    package static func text(_ seconds: Int64) -> String {
        let range = supportedSeconds
        let seconds = min(max(seconds, range.lowerBound), range.upperBound) + Int64(daysTo1970) * 86_400
        let date = date(ofDay: Int(seconds / 86_400))
        let second = Int(seconds % 86_400)
        let time = "\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60))"
        return "\(padded(date.year, width: 4))-\(padded(date.month))-\(padded(date.day))T\(time)Z"
    }

    /// Reads a time, or returns `nil` if the text isn't exactly what ``text(_:)`` writes.
    static func read(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        func number(at start: Int, length: Int = 2) -> Int {
            bytes[start..<start + length].reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        }
        let time = number(at: 11) * 3_600 + number(at: 14) * 60 + number(at: 17)
        let day = dayNumber(
            year: number(at: 0, length: 4),
            month: number(at: 5),
            dayOfMonth: number(at: 8)
        )
        let seconds = Int64(day - daysTo1970) * 86_400 + Int64(time)
        // The text hasn't been checked yet. If it isn't a valid time, writing `seconds` makes a different
        // text.
        return Self.text(seconds) == text ? seconds : nil
    }

    // In the next two functions, a year begins on 1 March. Then the leap day is the last day of the year, so
    // each month begins on the same day of every year.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let dayOfEra = day % daysIn400Years
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = day / daysIn400Years * 400 - 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func dayNumber(year: Int, month: Int, dayOfMonth: Int) -> Int {
        let year = year + 400 - (month <= 2 ? 1 : 0)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear
    }

    private static func padded(_ number: Int, width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
