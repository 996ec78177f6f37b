/// Seconds since 1970 as `2026-11-21T03:54:28Z`, by arithmetic on the proleptic Gregorian calendar.
///
/// The C library's `strftime` would open the time-zone file to print a date in UTC.
package enum Timestamp {
    private static let daysIn400Years = 146_097

    /// From 1 March of the year -400 to 1970, so that no day of ``years`` has a negative number.
    private static let daysTo1970 = 719_468 + daysIn400Years

    /// The years 0000 to 9999, which are what four digits hold.
    private static let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// A moment outside ``years`` becomes the nearer end of them; seconds are an `Int64`, since an `Int` of a watch may have 32 bits.
    package static func text(_ seconds: Int64) -> String {
        let seconds = min(max(seconds, years.lowerBound), years.upperBound) + Int64(daysTo1970) * 86_400
        let (year, month, day) = date(Int(seconds / 86_400))
        let second = Int(seconds % 86_400)
        let time = "\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60))"
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(time)Z"
    }

    /// Gives `nil` for anything but a real date of the years 0000 to 9999 written exactly so.
    static func read(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        func number(_ start: Int, _ length: Int = 2) -> Int {
            bytes[start..<start + length].reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        }
        let time = number(11) * 3_600 + number(14) * 60 + number(17)
        let days = days(number(0, 4), number(5), number(8)) - daysTo1970
        let seconds = Int64(days) * 86_400 + Int64(time)
        // Whatever else stands there comes out otherwise than it went in.
        return Self.text(seconds) == text ? seconds : nil
    }

    // Years are counted from 1 March, so that the leap day is a year's last: then months have fixed offsets.
    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let dayOfEra = days % daysIn400Years
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = days / daysIn400Years * 400 - 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = year + 400 - (month <= 2 ? 1 : 0)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
