internal import AppMigrations
internal import AppMigrationsSQLite

/// The beginning of a file that SQLite says is no database.
///
/// The same error has three causes: a file of a format that comes later, a database that is
/// encrypted while the key is missing, and one that is really none. Only the last is damage. The file is read by
/// plain calls here; no connection of this process can have a lock on it that it would lose.
enum StoreHeader {
    /// "SQLite format 3" and a zero byte ("Database File Format", section 1.3).
    private static let magic = Array("SQLite format 3\0".utf8)
    private static var size: Int { 1_024 }

    static func inspection(of files: StoreFiles, _ error: SQLError) throws(SQLError) -> StoreInspection {
        let head: [UInt8]
        do throws(SystemCallError) {
            guard let bytes = try Platform.head(ofFile: files.store, size) else {
                return .unreachable(StoreInspection.error(.unreachable, "It was removed meanwhile", files))
            }
            head = bytes
        } catch {
            return .unreachable(StoreInspection.error(.unreachable, "\(error)", files))
        }
        let code = error.extendedResultCode
        if head.starts(with: magic), head.count > 19, head[19] > 2 {
            let message = "The file's format is one of a newer SQLite (read version \(head[19]))"
            return .newer(StoreInspection.error(.newerSchema, message, files, code))
        }
        if looksEncrypted(head) {
            let message = "The file looks like an encrypted database, which this SQLite cannot read"
            return .unreachable(StoreInspection.error(.unreachable, message, files, code))
        }
        return .damaged(StoreInspection.error(.damaged, error.message, files, code))
    }

    /// Whether the bytes are spread as only encrypted or compressed ones are: 1,024 random bytes have some
    /// 251 different values, a text fewer than 100.
    private static func looksEncrypted(_ head: [UInt8]) -> Bool {
        head.count == size && Set(head).count > 220
    }
}
