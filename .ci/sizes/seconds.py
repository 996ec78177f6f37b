"""The processor's seconds that the builds of the clients take, from nothing, and against the build of a reference.

Seconds are a machine's, so the bounds stand on the ratio. The reference is Swift of a fixed size, written here: structs, enums,
generics and texts, since what the compiler spends on a library of structs and texts is what is to be divided out. It is built
before and after the clients, so that a change of the load is in both.
"""

import resource
import tempfile
from pathlib import Path

from . import clients

TYPES = 60
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "reference", targets: [.executableTarget(name: "reference")])
"""
SOURCE = """\
enum Failure{n}: Error {{
    case missing(String), wrong(String, at: Int), late
}}

struct Record{n}<Content: Hashable & Sendable>: Hashable, Sendable {{
    var name: String
    var content: [Content]
    var marks: [String: Int]

    init(name: String, content: [Content] = []) {{
        self.name = name
        self.content = content
        marks = [:]
    }}

    mutating func take(_ other: Content, as mark: String) throws(Failure{n}) -> Int {{
        guard !mark.isEmpty else {{ throw .missing("\\(name) has no mark for \\(other)") }}
        if let place = marks[mark] {{
            guard content[place] != other else {{ throw .wrong(mark, at: place) }}
            content[place] = other
            return place
        }}
        guard content.count < {n} + 1_000 else {{ throw .late }}
        content.append(other)
        marks[mark] = content.count - 1
        return content.count - 1
    }}

    func found(where matches: (Content) -> Bool) -> [String] {{
        marks.filter {{ matches(content[$0.value]) }}.sorted {{ $0.value < $1.value }}
            .map {{ "\\($0.key): \\(content[$0.value]) of \\(name)" }}
    }}
}}

func use{n}(_ count: Int) -> String {{
    var record = Record{n}<Int>(name: "record {n}")
    var lines: [String] = []
    for number in 0..<count {{
        do throws(Failure{n}) {{
            lines.append("\\(try record.take(number, as: "mark \\(number % 7)"))")
        }} catch {{
            switch error {{
            case .missing(let text): lines.append(text)
            case .wrong(let text, let place): lines.append("\\(text) at \\(place)")
            case .late: lines.append("late")
            }}
        }}
    }}
    return (lines + record.found {{ $0 % 2 == {n} % 2 }}).joined(separator: ", ")
}}
"""


def write_reference(folder):
    sources = folder / "Sources" / "reference"
    sources.mkdir(parents=True)
    (folder / "Package.swift").write_text(MANIFEST)
    for number in range(TYPES):
        (sources / f"Record{number:03}.swift").write_text(SOURCE.format(n=number))
    uses = "".join(f"print(use{number}(CommandLine.arguments.count))\n" for number in range(TYPES))
    (sources / "main.swift").write_text(uses)


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def built(package, product):
    """The seconds of a release build from nothing; the manifests were read before."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        clients.run([clients.tool("swift"), "package", "--package-path", package, "--scratch-path", scratch, "resolve"])
        before = spent()
        clients.build(package, scratch, "release", product=product)
        return spent() - before


def values(package):
    """The ratios, which are bound, and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        reference = Path(folder) / "reference"
        write_reference(reference)
        references = [built(reference, "reference")]
        found = {client: built(package, client) for client in ("core", "migrator")}
        references.append(built(reference, "reference"))
    mean = sum(references) / 2
    ratios = {f"build.{client}.ratio": seconds / mean for client, seconds in found.items()}
    return ratios, {**found, "reference, before": references[0], "reference, after": references[1]}
