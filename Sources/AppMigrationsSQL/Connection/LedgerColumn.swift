/// A column of a ledger.
package struct LedgerColumn: Equatable {
    /// The name, in lower case.
    package let name: String

    /// The type; `nil` for a type that no ledger of this library has.
    let type: ValueType?

    enum ValueType { case integer, text }

    /// The type in the statement that creates the table on SQLite.
    package var declaration: String {
        switch type {
        case .integer: "INTEGER"
        case .text: "TEXT"
        case nil: ""
        }
    }

    static func integer(_ name: String) -> LedgerColumn { LedgerColumn(name: name, type: .integer) }
    static func text(_ name: String) -> LedgerColumn { LedgerColumn(name: name, type: .text) }
}
