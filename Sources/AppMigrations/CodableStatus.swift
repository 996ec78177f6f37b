extension MigrationStatus: Codable {
    /// Reads what ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let members = try MemberReader(decoder)
        var marks: Marks?
        if let lastRun = try members.readIfThere("lastRunVersion", AppVersion.self) {
            marks = Marks(
                lastRun,
                try members.read("baseline"),
                try members.read("launchedVersion"),
                try members.readIfThere("minimumAppVersion")
            )
        }
        facts = Facts(
            try members.read("name"),
            try members.read("appVersion"),
            try members.read("stateFile"),
            marks,
            try members.readIfThere("interruption"),
            try members.read("attempted"),
            try members.read("history")
        )
    }

    /// Writes the members that ``MigrationStatus`` shows; without a state there are no versions but the app's.
    public func encode(to encoder: any Encoder) throws {
        var members = MemberWriter(encoder)
        try members.write("name", managerName)
        try members.write("appVersion", appVersion)
        try members.write("stateFile", stateFile)
        try members.write("lastRunVersion", lastRunVersion)
        try members.write("baseline", baseline)
        try members.write("launchedVersion", launchedVersion)
        try members.write("minimumAppVersion", minimumAppVersion)
        try members.write("requiredAppVersion", requiredAppVersion)
        try members.write("interruption", interruption)
        try members.write("attempted", attempted)
        try members.write("history", history)
    }
}

extension MigrationStatus.Attempt: Codable {
    /// Reads what ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let members = try MemberReader(decoder)
        version = try members.read("version")
        attempts = try members.read("attempts")
        deaths = try members.read("deaths")
        appVersion = try members.read("appVersion")
        startedAt = try members.date("startedAt")
        failure = try members.readIfThere("failure")
        checkpoint = try members.readIfThere("checkpoint")
        checkpointAppVersion = try members.readIfThere("checkpointAppVersion")
        progress = try members.readIfThere("progress")
        isUnderWay = try members.readIfThere("isUnderWay")
        awaitsRestore = try members.read("awaitsRestore")
        lease = nil
    }

    /// Writes `version`, `attempts`, `deaths`, `appVersion`, `awaitsRestore`, and where they are known `startedAt` as text,
    /// `failure`, `checkpoint`, `checkpointAppVersion`, `progress` and `isUnderWay`.
    public func encode(to encoder: any Encoder) throws {
        var members = MemberWriter(encoder)
        try members.write("version", version)
        try members.write("attempts", attempts)
        try members.write("deaths", deaths)
        try members.write("appVersion", appVersion)
        try members.write("startedAt", date: startedAt)
        try members.write("failure", failure)
        try members.write("checkpoint", checkpoint)
        try members.write("checkpointAppVersion", checkpointAppVersion)
        try members.write("progress", progress)
        try members.write("isUnderWay", isUnderWay)
        try members.write("awaitsRestore", awaitsRestore)
    }
}
