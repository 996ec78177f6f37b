/// Dates as texts: `2026-11-21`, `2026-11-21 09:43`, `2026-11-21T09:43:05.25Z`, `2026-11-21 09:43:05+02:00`.
///
/// They are the forms that SQLite's own functions read ("Date And Time Functions", Time Values 1 to 7), in
/// UTC where they name no other zone.
enum DateText {
    static let from1970To2001 = 978_307_200.0

    /// The seconds since 1970; `nil` for a text that is no date of the calendar.
    static func secondsSince1970(_ text: String) -> Double? {
        var text = Substring(text)
        guard let year = number(&text, digits: 4), skip(&text, "-"), let month = number(&text, digits: 2),
            skip(&text, "-"), let day = number(&text, digits: 2), (1...12).contains(month), day >= 1,
            day <= length(of: month, year)
        else { return nil }
        let seconds = Double(days(year, month, day)) * 86_400
        if text.isEmpty { return seconds }
        guard skip(&text, "T") || skip(&text, " "), let time = time(&text), let zone = zone(&text),
            text.isEmpty
        else { return nil }
        return seconds + time - zone
    }

    private static func time(_ text: inout Substring) -> Double? {
        guard let hour = number(&text, digits: 2), hour < 24, skip(&text, ":"),
            let minute = number(&text, digits: 2), minute < 60
        else { return nil }
        var time = Double(hour * 3_600 + minute * 60)
        guard skip(&text, ":") else { return time }
        guard let second = number(&text, digits: 2), second < 60 else { return nil }
        time += Double(second)
        guard skip(&text, ".") else { return time }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let fraction = Double("0.\(digits)"), !digits.isEmpty else { return nil }
        text = text.dropFirst(digits.count)
        return time + fraction
    }

    /// The seconds that a zone is ahead of UTC.
    private static func zone(_ text: inout Substring) -> Double? {
        if text.isEmpty || skip(&text, "Z") { return 0 }
        let isAhead = skip(&text, "+")
        guard isAhead || skip(&text, "-"), let hours = number(&text, digits: 2), hours < 15, skip(&text, ":"),
            let minutes = number(&text, digits: 2), minutes < 60
        else { return nil }
        return Double(hours * 3_600 + minutes * 60) * (isAhead ? 1 : -1)
    }

    private static func number(_ text: inout Substring, digits count: Int) -> Int? {
        let digits = text.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        text = text.dropFirst(count)
        return Int(digits)
    }

    private static func skip(_ text: inout Substring, _ character: Character) -> Bool {
        guard text.first == character else { return false }
        text = text.dropFirst()
        return true
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970 in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March have their leap day at the end.
        let years = month > 2 ? year : year - 1
        let months = month > 2 ? month - 3 : month + 9
        let leapDays = floored(years, 4) - floored(years, 100) + floored(years, 400)
        return years * 365 + leapDays + (months * 153 + 2) / 5 + day - 1 - 719_468
    }

    private static func floored(_ value: Int, _ divisor: Int) -> Int {
        (value - (value % divisor + divisor) % divisor) / divisor
    }
}
