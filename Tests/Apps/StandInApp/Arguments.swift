/// The command line of the stand-in app.
struct Arguments {
    var state = ""
    var name = "Library"
    var current = "1.4"
    var first = "fresh"
    var declared: [String] = []
    /// The versions whose closures synchronize what they wrote.
    var synchronizing: Set<String> = []
    /// The versions that older apps can't use the data after.
    var floors: Set<String> = []
    /// How many steps each closure takes, with a checkpoint after each.
    var steps = 0
    var trace: String?
    /// The folder whose files the closures change.
    var data: String?
    /// The file or folder that each migration replaces; `nil` if the closures work in place.
    var replaced: String?
    /// True if the closure makes a folder where nothing exists, and not a file.
    var makesFolder = false
    var timeout: Int?
    var attemptLimit: Int?
    var upgradesFrom: String?
    /// Where the app kills itself: `begin:1.2`, `middle:1.2`, `end:1.2`, or an event such as `finished:1.2`.
    var death: String?
    /// The version whose closure throws in its middle, and in the first attempt only when `throwsOnce` is set.
    var throwing: String?
    var throwsOnce = false
    /// The version whose closure waits in its middle until the standard input ends.
    var holding: String?
    /// True if the manager only looks: the app tells its launch, plan and status, and declares nothing.
    var isLooking = false
    /// The version to which the start resets the state before it declares anything.
    var reset: String?
    /// True if the start forgets the state, and makes no manager.
    var isForgetting = false

    static let usage = """
        StandInApp --state DIR [--name NAME] [--current 1.4] [--first fresh|everything|1.0] [--declare 1.1,1.2]
            [--synchronize 1.1,1.2] [--floors 1.1,1.2] [--steps N]
            [--trace FILE] [--data DIR] [--replacing PATH] [--make file|folder] [--timeout MILLISECONDS] [--limit N]
            [--upgrades-from 1.1]
            [--die begin|middle|end|EVENT:VERSION] [--throw VERSION] [--throw-once VERSION] [--hold VERSION]
            [--look plan] [--reset VERSION] [--forget state]
        StandInApp --serve
        Ends with 0, 3 (MigrationError: code, path and description are printed), 4 (another error), 64 (usage).
        """

    init?(_ words: [String]) {
        var words = words[...]
        while let option = words.popFirst() {
            guard let value = words.popFirst() else { return nil }
            switch option {
            case "--state": state = value
            case "--name": name = value
            case "--current": current = value
            case "--first": first = value
            case "--declare": declared = Self.list(value)
            case "--synchronize": synchronizing = Set(Self.list(value))
            case "--floors": floors = Set(Self.list(value))
            case "--steps": steps = Int(value) ?? 0
            case "--trace": trace = value
            case "--data": data = value
            case "--replacing": replaced = value
            case "--make": makesFolder = value == "folder"
            case "--timeout": timeout = Int(value)
            case "--limit": attemptLimit = Int(value)
            case "--upgrades-from": upgradesFrom = value
            case "--die": death = value
            case "--throw": throwing = value
            case "--throw-once": (throwing, throwsOnce) = (value, true)
            case "--hold": holding = value
            case "--look": isLooking = value == "plan"
            case "--reset": reset = value
            case "--forget": isForgetting = value == "state"
            default: return nil
            }
        }
        if state.isEmpty { return nil }
    }

    private static func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }
}
