import Foundation

// Installs that live through the releases of real products: <file> <folder for states> <random lives of each product>. `run`
// says what they prove. Exit code 1 if a migration was missed, or ran on data that has it.

let arguments = CommandLine.arguments
guard arguments.count == 4, let seeds = Int(arguments[3]) else {
    print("usage: lives FILE FOLDER SEEDS")
    exit(64)
}
var texts: [(name: String, versions: [String])] = []
for line in try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n") {
    let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard columns.count == 4 else { continue }
    let name = columns[0] + " " + columns[1]
    if texts.last?.name != name { texts.append((name, [])) }
    texts[texts.count - 1].versions.append(columns[3])
}
let products = texts.map(Product.init)

/// Numbers that are the same in each run.
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

var everyRelease = Life.Counts()
var mainLines = Life.Counts()
var someReleases = Life.Counts()

for (index, product) in products.enumerated() {
    func live(_ name: String, through releases: [Product.Release]) throws -> Life.Counts {
        var life = Life(of: product, in: "\(arguments[2])/\(index)-\(name)")
        for release in releases { try life.start(release) }
        return life.counts
    }
    everyRelease += try live("every", through: product.releases)
    mainLines += try live("main", through: product.releases.filter { $0.base == nil })
    for seed in 0..<seeds {
        var numbers = Numbers(state: UInt64(index * 1_000 + seed))
        let chance = Double.random(in: 0.1...0.9, using: &numbers)
        let chosen = product.releases.filter { _ in Double.random(in: 0...1, using: &numbers) < chance }
        someReleases += try live("some-\(seed)", through: chosen)
    }
}
let hotfixes = products.reduce(0) { $0 + $1.releases.count { $0.base != nil } }
print(
    "\(products.count) products, \(products.reduce(0) { $0 + $1.releases.count }) releases,"
        + " \(products.reduce(0) { $0 + $1.repeatedCount }) with the version of an earlier one,"
        + " \(products.reduce(0) { $0 + $1.unreadableCount }) texts that can't be read,"
        + " \(products.reduce(0) { $0 + $1.misnumberedCount }) above all of at least ten later ones; \(hotfixes) below an earlier release, of"
        + " which \(products.reduce(0) { $0 + $1.hotfixesWithoutMainLine }) in"
        + " \(products.count { $0.hotfixesWithoutMainLine > 0 }) products have no later release above all"
)
var isWrong = false
for (name, counts) in [
    ("every release", everyRelease), ("the main line", mainLines), ("some releases", someReleases),
] {
    print(
        "lives through \(name): \(counts.starts) starts, \(counts.downgrades) of them downgrades (\(counts.refused) refused),"
            + " \(counts.runs) migrations ran, \(counts.missed.count) missed, \(counts.repeated.count) on data that has them"
    )
    for line in (counts.missed + counts.repeated).prefix(20) { print("  " + line) }
    if !counts.missed.isEmpty || !counts.repeated.isEmpty { isWrong = true }
}
exit(isWrong ? 1 : 0)
