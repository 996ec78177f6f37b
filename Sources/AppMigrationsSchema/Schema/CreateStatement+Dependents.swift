internal import AppMigrationsSQLite

extension CreateStatement {
    /// The event of a trigger, and the columns it is limited to.
    var event: (name: String, columns: [SQLName])? {
        var index = afterName
        while index < tokens.tokens.count, !tokens.isWord(index, "ON") {
            if tokens.isWord(index, "INSERT") { return ("INSERT", []) }
            if tokens.isWord(index, "DELETE") { return ("DELETE", []) }
            if tokens.isWord(index, "UPDATE") {
                var columns = [SQLName]()
                index += 2
                while tokens.isWord(index - 1, "OF") || tokens.isSign(index - 1, ",") {
                    if let name = tokens.name(index) { columns.append(name) }
                    index += 2
                }
                return ("UPDATE", columns)
            }
            index += 1
        }
        return nil
    }
}
