/// An advisory lock of PostgreSQL.
package struct PostgresLock {
    package let number: Int64
    /// A description of the lock, for error messages.
    let name: String

    /// The lock of a ledger.
    ///
    /// `table` is the ledger's name with its schema.
    ///
    /// Every version of this library must compute the same number (FNV-1a).
    init(ofTable table: String) {
        let hash = table.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        number = Int64(bitPattern: hash)
        name = "the lock of the ledger \(table)"
    }

    private init(number: Int64, name: String) {
        self.number = number
        self.name = name
    }

    /// The lock that a host takes before it creates the table of a fleet's store.
    ///
    /// It isn't the lock for ledgers, which is held as long as the first migration runs.
    package static var ofNewStores: PostgresLock {
        PostgresLock(number: 4_155_207_210_473_317, name: "the lock under which new stores are made")
    }

    /// The lock that a host takes before it creates a ledger.
    ///
    /// It is the same for every ledger, because nobody knows yet in which schema another host creates one.
    static var ofNewTables: PostgresLock {
        PostgresLock(number: 4_155_207_210_473_316, name: "the lock under which new ledgers are made")
    }

    /// A query for the process that has the lock, and its host.
    ///
    /// pg_locks shows the two halves of the number.
    var holderQuery: String {
        let bits = UInt64(bitPattern: number)
        return """
            SELECT concat(pid, ' for ' || host(client_addr)) FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid::bigint = \(bits >> 32) AND objid::bigint = \(bits & 0xFFFF_FFFF) LIMIT 1
            """
    }
}
