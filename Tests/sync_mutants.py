#!/usr/bin/env python3
"""Plants mistakes in the rules of sync, and lets the vectors and the simulator find them.

    python3 Tests/sync_mutants.py [SCHEDULES] [MUTANT ...]

The sources know nothing of mutants: this script makes a small package in build/sync-mutants of
copies of ToftSync, the program of the vectors and the simulator. In the copies `Mutant.isOn(.name)`
asks the environment which one is on (TOFT_MUTANT). A text to edit that is not there exactly once
ends the script: an edit follows the code that it is about.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "build/sync-mutants"
SOURCES = "Sources/ToftSync/"
FIXTURES = ["vectors.json", "changesets.json", "replicas.json"]
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "toft",
    targets: [
        .target(name: "ToftSync", path: "Sources/ToftSync"),
        .target(name: "ToftTestKit", path: "Tests/ToftTestKit"),
        .executableTarget(
            name: "SyncVectors", dependencies: ["ToftSync"], path: "Tests/SyncVectors"),
        .executableTarget(
            name: "ToftSyncSimulator", dependencies: ["ToftSync", "ToftTestKit"],
            path: "Tests/ToftSyncSimulator"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [.enableUpcomingFeature("InternalImportsByDefault")]
}
"""


class Mutant(NamedTuple):
    """A mistake: a text of one file of ToftSync, and what stands there in the copy."""

    name: str
    path: str
    text: str
    mutated: str


MUTANTS = [
    Mutant(
        "noOwnership",
        "Replica/Owners.swift",
        "guard let steps = owned[path.object] else",
        "guard !Mutant.isOn(.noOwnership), let steps = owned[path.object] else",
    ),
    Mutant(
        "onlyTheNewestOwns",
        "Replica/Replica+Writes.swift",
        "        owners.insert(changeset, store.schema)\n",
        "        if Mutant.isOn(.onlyTheNewestOwns) { owners = Owners() }\n"
        "        owners.insert(changeset, store.schema)\n",
    ),
    Mutant(
        "applyTwice",
        "Replica/Replica+Facts.swift",
        "guard batch.epoch == epoch, batch.through >= cursor,\n"
        "            batch.isComplete || batch.from == cursor && !needsAll\n",
        "guard Mutant.isOn(.applyTwice) || batch.epoch == epoch && batch.through >= cursor\n"
        "            && (batch.isComplete || batch.from == cursor && !needsAll)\n",
    ),
    Mutant(
        "addsNotOnTop",
        "Replica/Owners.swift",
        "guard let sum = adds[path] else",
        "guard !Mutant.isOn(.addsNotOnTop), let sum = adds[path] else",
    ),
    Mutant(
        "labelsIgnored",
        "Replica/Replica+Facts.swift",
        "            apply(.label(label), at: path + .label, isFresh: isFresh)\n",
        "            if !Mutant.isOn(.labelsIgnored) {\n"
        "                apply(.label(label), at: path + .label, isFresh: isFresh)\n"
        "            }\n",
    ),
    Mutant(
        "nothingSentAgain",
        "Replica/Replica.swift",
        "        pending = kept.map(\\.changeset).filter { $0.number > last } + pending\n",
        "        if !Mutant.isOn(.nothingSentAgain) {\n"
        "            pending = kept.map(\\.changeset).filter { $0.number > last } + pending\n"
        "        }\n",
    ),
    Mutant(
        "copiesAccepted",
        "Resolver/Resolver.swift",
        "        if changeset.number <= last { return .copy }\n"
        "        if changeset.number != last + 1 { return .gap }\n",
        "        if changeset.number <= last, !Mutant.isOn(.copiesAccepted) { return .copy }\n"
        "        if changeset.number > last + 1 { return .gap }\n",
    ),
    Mutant(
        "halfAChangeset",
        "Resolver/Resolver.swift",
        "            store.undo()\n",
        "            if Mutant.isOn(.halfAChangeset) { store.keep() } else { store.undo() }\n",
    ),
    Mutant(
        "noAnswers",
        "Resolver/Resolver.swift",
        "told: told.all,",
        "told: Mutant.isOn(.noAnswers) ? [] : told.all,",
    ),
    Mutant(
        "noLinksWithAnAnswer",
        "Resolver/Resolver.swift",
        "for link in store.links(to: object) { told.insert(link) }",
        "for link in store.links(to: object) where !Mutant.isOn(.noLinksWithAnAnswer) {\n"
        "            told.insert(link)\n"
        "        }",
    ),
    Mutant(
        "defaultCounts",
        "Resolver/Resolver+Authority.swift",
        "if write.isExplicit != isExplicit {",
        "if write.isExplicit != isExplicit, !Mutant.isOn(.defaultCounts) {",
    ),
    Mutant(
        "lastToArriveWins",
        "Resolver/Resolver+Authority.swift",
        "guard let write = store.write(at: path) else { return true }\n        if",
        "guard let write = store.write(at: path) else { return true }\n"
        "        if Mutant.isOn(.lastToArriveWins), write.isExplicit == isExplicit {\n"
        "            return true\n"
        "        }\n"
        "        if",
    ),
    Mutant(
        "timeAlone",
        "Resolver/Resolver+Authority.swift",
        "return knew(write) ||",
        "return knew(write) && !Mutant.isOn(.timeAlone) ||",
    ),
    Mutant(
        "anyIncarnation",
        "Resolver/Resolver+Authority.swift",
        "guard let birth = store.birth(at: path) else { return true }",
        "guard !Mutant.isOn(.anyIncarnation), let birth = store.birth(at: path) else {\n"
        "            return true\n"
        "        }",
    ),
    Mutant(
        "createDoesNotJoin",
        "Resolver/Resolver+Objects.swift",
        "            joined.joined.insert(author)\n",
        "            if !Mutant.isOn(.createDoesNotJoin) { joined.joined.insert(author) }\n",
    ),
    Mutant(
        "denyIgnored",
        "Resolver/Resolver+Objects.swift",
        "            if let denying {\n",
        "            if let denying, !Mutant.isOn(.denyIgnored) {\n",
    ),
    Mutant(
        "othersNotTold",
        "Resolver/Resolver+Objects.swift",
        "where store.contains(other) {",
        "where store.contains(other) && !Mutant.isOn(.othersNotTold) {",
    ),
    Mutant(
        "linksStay",
        "Resolver/Resolver+Objects.swift",
        "            show(link)\n",
        "            if !Mutant.isOn(.linksStay) { show(link) }\n",
    ),
    Mutant(
        "nestedByPlace",
        "Resolver/Resolver+Values.swift",
        "    mutating func nested(_ path: Path, _ id: CollectionID, _ edit: NestedEdit)"
        " -> Refusal? {\n",
        "    mutating func nested(_ path: Path, _ id: CollectionID, _ edit: NestedEdit)"
        " -> Refusal? {\n"
        "        var id = id\n"
        "        if Mutant.isOn(.nestedByPlace), let now = store.content(at: path)?.node?.value,\n"
        "            now.collection(id) == nil\n"
        "        {\n"
        "            if case .list(let other, _) = now { id = other }\n"
        "            if case .dictionary(let other, _) = now { id = other }\n"
        "        }\n",
    ),
    Mutant(
        "newLabelsNotTold",
        "Resolver/Resolver+Place.swift",
        "                show(path + .label)\n",
        "                if !Mutant.isOn(.newLabelsNotTold) { show(path + .label) }\n",
    ),
    Mutant(
        "noOrderAmongInserts",
        "Resolver/Resolver+Place.swift",
        "        (write.time, write.writer) < (time, author)\n",
        "        !Mutant.isOn(.noOrderAmongInserts)\n"
        "            && (write.time, write.writer) < (time, author)\n",
    ),
    Mutant(
        "putBringsBack",
        "Resolver/Resolver+Values.swift",
        "        guard let slot = store.schema.slot(path), store.content(at: path) != nil,\n",
        "        if Mutant.isOn(.putBringsBack), path.steps.last == .value,\n"
        "            let gone = store.tombstone(at: path.parent), let node = content.node,\n"
        "            knowsWay(to: path.parent)\n"
        "        {\n"
        "            store.setTombstone(nil, at: path.parent)\n"
        "            store.put(.element(Label(gone.label), node), at: path.parent)\n"
        "            show(path.parent)\n"
        "            return nil\n"
        "        }\n"
        "        guard let slot = store.schema.slot(path), store.content(at: path) != nil,\n",
    ),
    Mutant(
        "elementNotWhole",
        "Value/SyncSchema.swift",
        "{ kind == .elementValue && property.type == .link }",
        "{\n"
        "        kind == .elementValue && property.type == .link\n"
        "            && !Mutant.isOn(.elementNotWhole)\n"
        "    }",
    ),
    Mutant(
        "moveIsRemoveAndInsert",
        "Resolver/Resolver+Lists.swift",
        "        let (label, place) = place(neighbours, in: path.parent)\n"
        "        store.put(.element(Label(label), node), at: path)\n",
        "        let (label, place) = place(neighbours, in: path.parent)\n"
        "        if Mutant.isOn(.moveIsRemoveAndInsert), let id = path.element {\n"
        "            show(path)\n"
        "            let other = MadeID(id.replica, id.counter + 1_000_000 * sequence)\n"
        "            store.put(.element(Label(label), node), at: path.parent + .element(other))\n"
        "            show(path.parent + .element(other))\n"
        "            return nil\n"
        "        }\n"
        "        store.put(.element(Label(label), node), at: path)\n",
    ),
    Mutant(
        "clearTakesAll",
        "Resolver/Resolver+Lists.swift",
        "where store.write(at: path + step).map(knew) ?? true",
        "where store.write(at: path + step).map(knew) ?? true || Mutant.isOn(.clearTakesAll)",
    ),
    Mutant(
        "removedKeysForgotten",
        "Resolver/Resolver+Values.swift",
        "        stamp(path, isExplicit: isExplicit)\n",
        "        stamp(path, isExplicit: isExplicit)\n"
        "        if content == .absent, Mutant.isOn(.removedKeysForgotten) {\n"
        "            store.setWrite(nil, at: path)\n"
        "        }\n",
    ),
    Mutant(
        "uniqueIgnored",
        "Resolver/Resolver.swift",
        "where store.breaksUnique(object) {",
        "where store.breaksUnique(object) && !Mutant.isOn(.uniqueIgnored) {",
    ),
    Mutant(
        "linksOutOfView",
        "Resolver/View.swift",
        "        return seen(content, at: path)\n",
        "        return Mutant.isOn(.linksOutOfView) ? content : seen(content, at: path)\n",
    ),
    Mutant(
        "noLinksWithWhatEnters",
        "Resolver/Resolver+Batches.swift",
        "for link in now.links(to: object) {",
        "for link in now.links(to: object) where !Mutant.isOn(.noLinksWithWhatEnters) {",
    ),
    Mutant(
        "forgetsTooMuch",
        "State/MemoryStore.swift",
        "    package mutating func forget(through floor: UInt64) {\n",
        "    package mutating func forget(through floor: UInt64) {\n"
        "        let floor = Mutant.isOn(.forgetsTooMuch) ? head : floor\n",
    ),
]


def declaration() -> str:
    """The source of `Mutant` in the copy."""
    cases = "\n".join(f"    case {mutant.name}" for mutant in MUTANTS)
    return f"""\
import Glibc

enum Mutant: String {{
{cases}

    private static let chosen = getenv("TOFT_MUTANT").flatMap {{
        Mutant(rawValue: String(cString: $0))
    }}

    static func isOn(_ mutant: Mutant) -> Bool {{ chosen == mutant }}
}}
"""


def make_package() -> None:
    """The package with the mutants; what is built of it stays, so that the next build is short."""
    for part in ["Sources", "Tests"]:
        shutil.rmtree(PACKAGE / part, ignore_errors=True)
    for part in ["Sources/ToftSync", "Tests/SyncVectors", "Tests/ToftSyncSimulator"]:
        shutil.copytree(ROOT / part, PACKAGE / part)
    (PACKAGE / "Tests/ToftTestKit").mkdir()
    shutil.copy(ROOT / "Tests/ToftTestKit/Seed.swift", PACKAGE / "Tests/ToftTestKit")
    (PACKAGE / "Package.swift").write_text(MANIFEST)
    (PACKAGE / SOURCES / "Value/Mutant.swift").write_text(declaration())
    for mutant in MUTANTS:
        path = PACKAGE / SOURCES / mutant.path
        text = path.read_text()
        if text.count(mutant.text) != 1:
            sys.exit(
                f"{mutant.path}: this text is there {text.count(mutant.text)} times:\n{mutant.text}"
            )
        path.write_text(text.replace(mutant.text, mutant.mutated))


def run(program: str, arguments: list[str], mutant: str) -> str | None:
    """The first line that a program says of a mistake; nothing when it finds none."""
    environment = {**os.environ, "TOFT_MUTANT": mutant}
    done = subprocess.run(
        [PACKAGE / ".build/release" / program, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=600,
    )
    if done.returncode == 0:
        return None
    return f"{program}: {' '.join((done.stdout + done.stderr).split())}"


def main() -> None:
    schedules = sys.argv[1] if len(sys.argv) > 1 else "3000"
    chosen = sys.argv[2:]
    make_package()
    subprocess.run(
        ["swift", "build", "-c", "release", "--package-path", PACKAGE, "--quiet"], check=True
    )
    fixtures = [str(ROOT / "Tests/ToftSyncTests/Fixtures" / name) for name in FIXTURES]
    if found := run("SyncVectors", fixtures, "") or run("ToftSyncSimulator", [schedules], ""):
        sys.exit(f"without a mutant: {found}")
    missed = []
    for mutant in MUTANTS:
        if chosen and mutant.name not in chosen:
            continue
        by_vectors = run("SyncVectors", fixtures, mutant.name)
        by_simulator = run("ToftSyncSimulator", [schedules], mutant.name)
        print(
            f"{mutant.name:24} vectors {'found' if by_vectors else 'not found':9} "
            f"simulator {(by_simulator or 'not found')[:80]}",
            flush=True,
        )
        missed += [] if by_vectors or by_simulator else [mutant.name]
    if missed:
        sys.exit(f"not found: {', '.join(missed)}")
    print(f"{len(chosen) or len(MUTANTS)} mistakes found")


if __name__ == "__main__":
    main()
