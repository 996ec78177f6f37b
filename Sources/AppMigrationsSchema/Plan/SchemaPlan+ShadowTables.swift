internal import AppMigrationsSQLite

extension SchemaPlan {
    /// The tables of the database that the plan leaves alone because they may belong to a virtual table.
    ///
    /// SQLite calls a table a shadow table because of its name, such as `notes_content` next to a virtual
    /// table `notes`. A plan finds out whether the module of the virtual table creates it, and treats every
    /// other table as yours. If the virtual table needs a module or a tokenizer that only your connection
    /// has, the plan can't find out. Then it neither changes nor drops tables of such names. The plan's
    /// description has a line for each of them, with SQLite's error.
    public var assumedShadowTables: [String] { start.shadowTables.assumed.map(\.table.text) }

    var assumedShadowTableNotes: [String] {
        start.shadowTables.assumed.map { assumed in
            let advice = SQLError.registrationAdvice(for: assumed.obstacle).map { " \($0)." } ?? ""
            return
                "The table \(assumed.table) is left alone. By its name it is a shadow table of the virtual table \(assumed.virtualTable),"
                + " whose statement can't be run in memory to find out: \(assumed.obstacle).\(advice)"
        }
    }
}
