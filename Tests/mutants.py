#!/usr/bin/env python3
"""Plants the mutants: python3 Tests/mutants.py DESTINATION.

A mutant is the engine with one deliberate mistake, to prove that a trial finds it. The sources know
nothing of mutants: this script copies the package to DESTINATION and edits the copy, in which
`Mutant.isOn(.name)` asks the environment which one is on (TOFT_MUTANT). A text to edit that is not
there exactly once ends the script: an edit follows the code that it is about.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

# The trial that has to find each mutant.
TRIALS: dict[str, list[str]] = {
    "crash": [
        "noSyncBeforeMeta",
        "metaNotDurable",
        "metaBeforePages",
        "pageReusedTooEarly",
        "pinsIgnored",
        "versionReusedAfterRollback",
        "checksumNotCompared",
        "othersCommitOverlooked",
        "growthForgotten",
        "olderMetaRefused",
        "recoveryOverwritesItsMeta",
        "logNotDurable",
        "previousVersionNotChecked",
        "saltKept",
        "deferredNotCovered",
        "logTailIgnored",
        "inDoubtMetaForgotten",
        "checkpointNotPinned",
        "checkpointNotSynced",
        "entryLostOnTheWay",
        "segmentNotListed",
        "tornRecordBelieved",
        "voidRecordBelieved",
        "voidMarkerBelieved",
        "derivedNotReplayed",
        "versionOfBirthNotPinned",
        "fileCutTooEarly",
        "movedLogForgotten",
    ],
    "faults": [
        "syncErrorIgnored",
        "syncTriedAgain",
        "poisonForgotten",
        "diskFullIgnored",
        "recoveryTrustsTheCache",
        "flushForgetsPoison",
        "closeErrorSwallowed",
        "groupFailureHidden",
    ],
    "model": [
        "clusterRowsOffByOne",
        "codeUsedTwice",
        "nullElementHasText",
        "gapForgotten",
        "staleElementAfterMove",
        "upsertSkipsIndex",
        "backlinkForgotten",
        "longTextTakenAsShort",
        "elementLostInSplit",
        "elementLostInMerge",
        "olderRowsBecomeNull",
        "newRowKeepsZero",
        "boundsNotWidened",
        "observerMissesRow",
        "staleResults",
        "erasedRowFollowed",
        "cancelledFollowed",
        "tagOfAnother",
        "columnContentsKept",
        "keysKeptFromLastCall",
        "keyOfNoValueLeft",
        "setMergedTooFar",
        "droppedChildKept",
        "grandchildrenKept",
        "counterNotStored",
        "counterNotMoved",
        "cascadeForgotten",
        "denialForgotten",
        "touchedUniqueForgotten",
        "lastDefaultForgotten",
        "equalKeysBelieved",
        "lastMixedLinkForgotten",
        "nestedLinkKept",
        "outerLengthKept",
        "mixedIndexNotMoved",
        "setKeepsNull",
        "exactNumberRounded",
        "firstNestedTaken",
        "formOfAnother",
        "lastExtentNotSealed",
    ],
    "interleavings": [
        "publishedBeforeMeta",
        "publishedBeforeLog",
        "pinStoredWithoutLookingAgain",
        "durableVersionReadFirst",
        "deadWritersLogOverlooked",
    ],
    "kills": [
        "deadWriterNotTakenOver",
    ],
    "files": [
        "deadOwnerByNumberOnly",
        "shortWriteTakenAsWhole",
        "directoryNotSynced",
        "copyNotVerified",
        "lostLogNotSeen",
        "lostMetaNotSeen",
    ],
    "query": [
        "parenthesesForgotten",
    ],
    "differential": [
        "otherPathTaken",
        "farObjectForgotten",
        "greatestOtherForgotten",
        "boundOfRangeLeftOut",
        "nullSortedAsZero",
        "lastRowsCountedTwice",
    ],
    "damage": [
        "referenceBoundsNotChecked",
        "heightNotChecked",
        "keyOrderNotChecked",
    ],
}


class Edit(NamedTuple):
    """A text of one file, and its replacement in the copy."""

    path: str
    text: str
    mutated: str


EDITS = [
    Edit(
        "Sources/ToftQuery/Run/QueryCache.swift",
        """\
        let hash = text.hashValue
""",
        """\
        let hash = Mutant.isOn(.otherPathTaken) ? text.utf8.count : text.hashValue
""",
    ),
    Edit(
        "Sources/ToftQuery/Run/QueryCache.swift",
        """\
            if let query = slots[index].query, query.text.hasSameBytes(as: text) {
""",
        """\
            if let query = slots[index].query,
                query.text.hasSameBytes(as: text)
                    || Mutant.isOn(.otherPathTaken) && query.text.utf8.count == text.utf8.count
            {
""",
    ),
    Edit(
        "Sources/ToftQuery/Nodes/FarTestNode.swift",
        "internal import ToftStorage\n",
        "internal import ToftPlatform\ninternal import ToftStorage\n",
    ),
    Edit(
        "Sources/ToftQuery/Nodes/FarTestNode.swift",
        """\
                    if known[depth + 1].insert(key) { fresh[depth + 1].append(key) }
""",
        """\
                    if known[depth + 1].insert(key),
                        !Mutant.isOn(.farObjectForgotten) || fresh[depth + 1].count != 3
                    {
                        fresh[depth + 1].append(key)
                    }
""",
    ),
    Edit(
        "Sources/ToftQuery/Batch/Kernels.swift",
        """\
            counts &-= passing(count &- 16) & unsafeBitCast(isNew, to: SIMD16<UInt8>.self)
""",
        """\
            counts &-= passing(count &- 16)
                & (Mutant.isOn(.lastRowsCountedTwice)
                    ? SIMD16(repeating: 255) : unsafeBitCast(isNew, to: SIMD16<UInt8>.self))
""",
    ),
    Edit(
        "Sources/ToftQuery/Nodes/CrossPairNode.swift",
        "internal import ToftStorage\n",
        "internal import ToftPlatform\ninternal import ToftStorage\n",
    ),
    Edit(
        "Sources/ToftQuery/Nodes/CrossPairNode.swift",
        """\
            if order(of: 1, values, row) < 0 { chunks[0].replace(1, from: values, row) }
""",
        """\
            if Mutant.isOn(.greatestOtherForgotten) { return }
            if order(of: 1, values, row) < 0 { chunks[0].replace(1, from: values, row) }
""",
    ),
    Edit(
        "Sources/ToftQuery/Plan/IndexPlan.swift",
        "internal import ToftStorage\n",
        "internal import ToftPlatform\ninternal import ToftStorage\n",
    ),
    Edit(
        "Sources/ToftQuery/Plan/IndexPlan.swift",
        """\
                    from: .including(.int64(low)), to: .including(.int64(high)), view, limit, &found
""",
        """\
                    from: .including(.int64(low)),
                    to: Mutant.isOn(.boundOfRangeLeftOut)
                        ? .excluding(.int64(high)) : .including(.int64(high)), view, limit, &found
""",
    ),
    Edit(
        "Sources/ToftQuery/Run/Sorting.swift",
        "internal import ToftStorage\n",
        "internal import ToftPlatform\ninternal import ToftStorage\n",
    ),
    Edit(
        "Sources/ToftQuery/Run/Sorting.swift",
        """\
        let isNull = vector.nulls[row]
        if isNull { hasNulls = true }
""",
        """\
        let isNull = vector.nulls[row]
        if isNull, !Mutant.isOn(.nullSortedAsZero) { hasNulls = true }
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/SealedWriter.swift",
        """\
        if isShared { return try SharedWork.run(1 + targets.count, body: body) }
""",
        """\
        if isShared {
            let done = targets.count > 1 && Mutant.isOn(.lastExtentNotSealed) ? 0 : 1
            return try SharedWork.run(done + targets.count, body: body)
        }
""",
    ),
    Edit(
        "Sources/ToftQuery/Bound/Description.swift",
        "internal import ToftStorage\n",
        "internal import ToftPlatform\ninternal import ToftStorage\n",
    ),
    Edit(
        "Sources/ToftQuery/Bound/Description.swift",
        """\
            let inParentheses = own <= precedence
""",
        """\
            let inParentheses = own <= precedence && !Mutant.isOn(.parenthesesForgotten)
""",
    ),
    Edit(
        "Sources/ToftModel/SchemaWrite/SchemaBuilder+Defaults.swift",
        """\
            for (offset, key) in keys.enumerated() {
""",
        """\
            for (offset, key) in keys.enumerated() {
                if Mutant.isOn(.lastDefaultForgotten), offset > 0, offset + 1 == keys.count {
                    continue
                }
""",
    ),
    Edit(
        "Sources/ToftModel/SchemaWrite/SchemaBuilder.swift",
        """\
        guard counts.0 == counts.1 else {
""",
        """\
        guard counts.0 == counts.1 || Mutant.isOn(.equalKeysBelieved) else {
""",
    ),
    Edit(
        "Sources/ToftEngine/Calculate/ChangeCalculation+Results.swift",
        """\
        let stayed = modified.subtracting(rows.inserted).subtracting(rows.erased)
""",
        """\
        var stayed = modified.subtracting(rows.inserted).subtracting(rows.erased)
        if Mutant.isOn(.observerMissesRow), let last = stayed.runs.last {
            stayed = stayed.subtracting(IndexRanges(last.upperBound - 1..<last.upperBound))
        }
""",
    ),
    Edit(
        "Sources/ToftEngine/Results/Results.swift",
        """\
        if all.stamp == stamp { return all }
""",
        """\
        if all.stamp == stamp || Mutant.isOn(.staleResults) { return all }
""",
    ),
    Edit(
        "Sources/ToftEngine/Session/TouchedKeys.swift",
        """\
        case .inserted, .erased: add(effect.key, count: effect.count)
""",
        """\
        case .erased where Mutant.isOn(.erasedRowFollowed): break
        case .inserted, .erased: add(effect.key, count: effect.count)
""",
    ),
    Edit(
        "Sources/ToftEngine/Session/Session.swift",
        """\
        guard mark.schema === schema, let owner = schema.anyClass(id: classID),
            mark.writing.map({ $0.number > position.cancelledNumber }) ?? true
""",
        """\
        guard mark.schema === schema, let owner = schema.anyClass(id: classID),
            mark.writing.map({
                $0.number > position.cancelledNumber || Mutant.isOn(.cancelledFollowed)
            }) ?? true
""",
    ),
    Edit(
        "Sources/ToftStorage/ClusterWrite/ClusterEditor.swift",
        """\
        base.storeUInt8(Int(text.tag), at: slice.start &+ slice.geometry.tags &+ code)
""",
        """\
        let tag = Int(text.tag) ^ (Mutant.isOn(.tagOfAnother) ? 1 : 0)
        base.storeUInt8(tag, at: slice.start &+ slice.geometry.tags &+ code)
""",
    ),
    Edit(
        "Sources/ToftStorage/TableWrite/TableWriter+Columns.swift",
        """\
                for column in gone where column.hasHeap { try freeContents(cluster, column) }
""",
        """\
                for column in gone where column.hasHeap && !Mutant.isOn(.columnContentsKept) {
                    try freeContents(cluster, column)
                }
""",
    ),
    Edit(
        "Sources/ToftModel/Encoding/KeyBytes.swift",
        """\
        let isLong = text.count > Self.textLimit
""",
        """\
        let isLong =
            text.count > Self.textLimit + (Mutant.isOn(.longTextTakenAsShort) ? 1 : 0)
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Lists.swift",
        """\
        if case .int64(let old) = was { try removeBacklink(property, target: old, source: key) }
""",
        """\
        if case .int64(let old) = was { try removeBacklink(property, target: old, source: key) }
        if Mutant.isOn(.backlinkForgotten) { return }
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Embedded.swift",
        """\
        guard property.ownsTargets, let position = property.targetPosition else { return }
""",
        """\
        guard property.ownsTargets, let position = property.targetPosition,
            !Mutant.isOn(.droppedChildKept)
        else { return }
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/WriteBuffer.swift",
        """\
        guard classes[position].isCounterDirty, let counter = classes[position].counter else {
""",
        """\
        guard classes[position].isCounterDirty, let counter = classes[position].counter,
            !Mutant.isOn(.counterNotStored)
        else {
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/WriteBuffer.swift",
        """\
        guard case .int64(let key) = key, try counter(owner) < key else { return }
""",
        """\
        guard case .int64(let key) = key,
            try counter(owner) < (Mutant.isOn(.counterNotMoved) ? key &- 1 : key)
        else { return }
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Delete.swift",
        """\
            for property in object.owner.cascading {
                guard let position = property.targetPosition else { continue }
""",
        """\
            let isKept = Mutant.isOn(.grandchildrenKept) && object.isDerived
            for property in isKept ? [] : object.owner.cascading {
                guard let position = property.targetPosition,
                    !Mutant.isOn(.cascadeForgotten) || property.ownsTargets
                        || !property.isCollection
                else { continue }
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/WriteBuffer+Entries.swift",
        """\
        touched.append((constraint, hash))
""",
        """\
        if Mutant.isOn(.touchedUniqueForgotten), hash % 2 == 0 { return }
        touched.append((constraint, hash))
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Delete.swift",
        """\
        guard let found else { return }
""",
        """\
        guard let found, !Mutant.isOn(.denialForgotten) || going.count < 2 else { return }
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+SetsAndDictionaries.swift",
        """\
            } else if let new, !old.isBefore(new, of: type) {
""",
        """\
            } else if let new,
                !old.isBefore(new, of: type)
                    || Mutant.isOn(.setMergedTooFar) && index + 1 == elements.count
            {
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/BulkDelete.swift",
        """\
            if property.collection == .dictionary {
""",
        """\
            if property.collection == .dictionary, !Mutant.isOn(.keyOfNoValueLeft) {
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Mixed.swift",
        """\
        for target in added {
""",
        """\
        for target in added where !Mutant.isOn(.lastMixedLinkForgotten) || target != added.last {
""",
    ),
    Edit(
        "Sources/ToftModel/Encoding/MixedFormat+Links.swift",
        """\
        case .scalar(.link(let target)) where isDeleted(target):
""",
        """\
        case .scalar(.link(let target))
        where isDeleted(target) && (depth == 0 || !Mutant.isOn(.nestedLinkKept)):
""",
    ),
    Edit(
        "Sources/ToftModel/Write/CollectionEdit.swift",
        """\
        for offset in path {
""",
        """\
        for offset in Mutant.isOn(.outerLengthKept) ? path.suffix(2) : path[...] {
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/BulkDelete.swift",
        """\
            guard property.isIndexed else { return try putCell(new, to: key, property, owner) }
""",
        """\
            guard property.isIndexed, !Mutant.isOn(.mixedIndexNotMoved) else {
                return try putCell(new, to: key, property, owner)
            }
""",
    ),
    Edit(
        "Sources/ToftModel/Buffer/BulkDelete.swift",
        """\
            if property.collection == .set {
""",
        """\
            if property.collection == .set, !Mutant.isOn(.setKeepsNull) {
""",
    ),
    Edit(
        "Sources/ToftModel/Encoding/MixedOrder.swift",
        """\
        case (let left?, nil): return Decimal128.order(of: left, to: other.exact)
""",
        """\
        case (let left?, nil):
            if Mutant.isOn(.exactNumberRounded), case .int(let value) = other {
                return order(left, Double(value))
            }
            return Decimal128.order(of: left, to: other.exact)
""",
    ),
    Edit(
        "Sources/ToftModel/Encoding/MixedFormat+Links.swift",
        """\
        if collection.id == id { return true }
""",
        """\
        if collection.id == id || Mutant.isOn(.firstNestedTaken) && path.count > 2 { return true }
""",
    ),
    Edit(
        "Sources/ToftModel/Write/PreparedAssignments.swift",
        """\
                keyIndexes[element.position] = -1
""",
        """\
                if !Mutant.isOn(.keysKeptFromLastCall) { keyIndexes[element.position] = -1 }
""",
    ),
    Edit(
        "Sources/ToftModel/Write/ModelTransaction+Set.swift",
        """\
            return
        }
""",
        """\
            return
        }
        if Mutant.isOn(.upsertSkipsIndex), property.isIndexed {
            return try putCell(element.cell, to: key, property)
        }
""",
    ),
    Edit(
        "Sources/ToftPlatform/Files/FilePath.swift",
        """\
        defer { _ = platform_close(descriptor) }
""",
        """\
        defer { _ = platform_close(descriptor) }
        if Mutant.isOn(.directoryNotSynced) { return }
""",
    ),
    Edit(
        "Sources/ToftPlatform/Files/PosixFile.swift",
        """\
            done += try checked("pwrite", path, count)
""",
        """\
            done += try checked("pwrite", path, count)
            if Mutant.isOn(.shortWriteTakenAsWhole) { return }
""",
    ),
    Edit(
        "Sources/ToftStorage/Node/OrderedLeafForms.swift",
        """\
        for index in 0..<count where Self.form(index, in: base) == form { return index }
""",
        """\
        for index in 0..<count {
            let known = Self.form(index, in: base)
            if known == form || known.own == form.own && Mutant.isOn(.formOfAnother) {
                return index
            }
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Node/OrderedLeaf+Check.swift",
        """\
                    || before.hint == suffix.hint
                        && before.compareRest(inOnePart(suffix, memory)) < 0
""",
        """\
                    || before.hint == suffix.hint
                        && before.compareRest(inOnePart(suffix, memory)) < 0
                    || Mutant.isOn(.keyOrderNotChecked)
""",
    ),
    Edit(
        "Sources/ToftStorage/ClusterWrite/ClusterEditor.swift",
        """\
        if value > Int64(bitPattern: slice.high) {
""",
        """\
        if value > Int64(bitPattern: slice.high), !Mutant.isOn(.boundsNotWidened) {
""",
    ),
    Edit(
        "Sources/ToftStorage/TableWrite/TableWriter+Tail.swift",
        """\
        var moved = min(count - kept, limit - before.rowCount)
""",
        """\
        let more = Mutant.isOn(.clusterRowsOffByOne) ? 1 : 0
        var moved = min(count - kept, limit - before.rowCount + more)
""",
    ),
    Edit(
        "Sources/ToftStorage/ClusterWrite/ClusterEditor.swift",
        """\
        let code = slice.textCount &+ 1
""",
        """\
        let isReused = Mutant.isOn(.codeUsedTwice) && slice.textCount > 0
        let code = slice.textCount &+ (isReused ? 0 : 1)
""",
    ),
    Edit(
        "Sources/ToftStorage/ClusterWrite/ListCodes.swift",
        """\
            case .cell: elements.append(0)
""",
        """\
            case .cell: elements.append(Mutant.isOn(.nullElementHasText) && !texts.isEmpty ? 1 : 0)
""",
    ),
    Edit(
        "Sources/ToftStorage/Cluster/ClusterPage.swift",
        """\
        !hasDenseKeys || row == rowCount && key == keys[rowCount &- 1] &+ 1
""",
        """\
        !hasDenseKeys || row == rowCount
            && (key == keys[rowCount &- 1] &+ 1 || Mutant.isOn(.gapForgotten))
""",
    ),
    Edit(
        "Sources/ToftStorage/TableWrite/TableWriter+Lists.swift",
        """\
        scratch.sequenceID.storeUInt64(id, at: 0)
        let bytes = UnsafeRawBufferPointer(
            start: scratch.sequenceID, count: ClusterLayout.sequenceIDSize)
""",
        """\
        let memory =
            Mutant.isOn(.staleElementAfterMove) ? scratch.element : scratch.sequenceID
        memory.storeUInt64(id, at: 0)
        let bytes = UnsafeRawBufferPointer(start: memory, count: ClusterLayout.sequenceIDSize)
""",
    ),
    Edit(
        "Sources/ToftStorage/List/SequenceWriter.swift",
        """\
        try write(edited, 0..<cut, to: base)
""",
        """\
        let lost = Mutant.isOn(.elementLostInSplit) ? 1 : 0
        try write(edited, 0..<cut - lost, to: base)
""",
    ),
    Edit(
        "Sources/ToftStorage/Cluster/TableReader.swift",
        """\
    var isNullWhereAbsent: Bool { isNullable && !wasRequired }
""",
        """\
    var isNullWhereAbsent: Bool {
        isNullable && (!wasRequired || Mutant.isOn(.olderRowsBecomeNull))
    }
""",
    ),
    Edit(
        "Sources/ToftStorage/TableWrite/TableWriter+Rows.swift",
        """\
        for column in columns where column.wasRequired {
""",
        """\
        for column in columns where column.wasRequired && !Mutant.isOn(.newRowKeepsZero) {
""",
    ),
    Edit(
        "Sources/ToftStorage/List/SequenceWriter.swift",
        """\
        let count = left.count + right.count
""",
        """\
        let lost = Mutant.isOn(.elementLostInMerge) ? 1 : 0
        let count = left.count + right.count - lost
""",
    ),
    Edit(
        "Sources/ToftStorage/List/SequenceWriter.swift",
        """\
        try writer.append(0..<right.count, of: right)
""",
        """\
        try writer.append(0..<right.count - lost, of: right)
""",
    ),
    Edit(
        "Sources/ToftStorage/Log/LogContent.swift",
        """\
        try expectNoCheckpoint(after: meta.version)
        try forEachHeader { frame throws(StorageError) in
            if frame.salt == map.salt, frame.durablePosition > point.position, isInPlace(frame) {
""",
        """\
        if !Mutant.isOn(.lostMetaNotSeen) { try expectNoCheckpoint(after: meta.version) }
        try forEachHeader { frame throws(StorageError) in
            if frame.salt == map.salt, frame.durablePosition > point.position, isInPlace(frame),
                !Mutant.isOn(.lostLogNotSeen)
            {
""",
    ),
    Edit(
        "Sources/ToftStorage/Log/LogContent.swift",
        """\
                frame.version > newest?.version ?? 0
            {
""",
        """\
                Mutant.isOn(.voidRecordBelieved)
                    ? newest == nil : frame.version > newest?.version ?? 0
            {
""",
    ),
    Edit(
        "Sources/ToftStorage/Log/LogContent.swift",
        """\
                frame.kind == .marker
                    ? frame.version >= version : frame.previousVersion == version
            else { return nil }
""",
        """\
                Mutant.isOn(.voidMarkerBelieved) && frame.kind == .marker
                    || Mutant.isOn(.previousVersionNotChecked)
                    || (frame.kind == .marker
                        ? frame.version >= version : frame.previousVersion == version)
            else { return nil }
""",
    ),
    Edit(
        "Sources/ToftStorage/Log/LogFrame.swift",
        """\
                == Checksum.of(payload)
""",
        """\
                == Checksum.of(payload)
                || Mutant.isOn(.tornRecordBelieved)
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/BitmapAllocator.swift",
        """\
        try file.grow(to: pages * UInt64(Page.size))
""",
        """\
        if Mutant.isOn(.growthForgotten) { return }
        do throws(StorageError) {
            try file.grow(to: pages * UInt64(Page.size))
        } catch  where Mutant.isOn(.diskFullIgnored) {}
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/FreeSpace.swift",
        """\
        let index = Self.index(ofPinFrom: birth, in: pins)
""",
        """\
        let isBirthLeftOut = Mutant.isOn(.versionOfBirthNotPinned) && birth < .max
        let index = Self.index(ofPinFrom: isBirthLeftOut ? birth + 1 : birth, in: pins)
""",
    ),
    Edit(
        "Sources/ToftStorage/Mapping/RegionMap.swift",
        """\
            guard present >= pages else {
""",
        """\
            guard present >= pages || Mutant.isOn(.referenceBoundsNotChecked) else {
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/MetaPage.swift",
        """\
        #endif
""",
        """\
        #endif
        if Mutant.isOn(.metaNotDurable) {
            return try file.write(UnsafeRawBufferPointer(page), at: slot.byteOffset)
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/MetaPage.swift",
        """\
        let second = try read(slot: 1, fromDevice: fromDevice, of: file)
""",
        """\
        let second = try read(slot: 1, fromDevice: fromDevice, of: file)
        if Mutant.isOn(.olderMetaRefused), first == nil || second == nil,
            try file.size() > UInt64(16 * Page.size)
        {
            return nil
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/PageReader.swift",
        """\
            guard Checksum.of(bytes, count: pages * Page.size) == ref.checksum else {
""",
        """\
            guard
                Checksum.of(bytes, count: pages * Page.size) == ref.checksum
                    || Mutant.isOn(.checksumNotCompared)
            else {
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/PageWriter.swift",
        """\
        }
        if ref.birth == version {
""",
        """\
        }
        if ref.birth == version || Mutant.isOn(.pageReusedTooEarly) {
""",
    ),
    Edit(
        "Sources/ToftStorage/Pager/PageWriter.swift",
        """\
        guard height < limit else {
""",
        """\
        guard height < limit || Mutant.isOn(.heightNotChecked) else {
""",
    ),
    Edit(
        "Sources/ToftStorage/Sharing/Coordinator.swift",
        """\
            poison()
""",
        """\
            if Mutant.isOn(.syncErrorIgnored) { return }
            if Mutant.isOn(.syncTriedAgain), (try? makeDurable()) != nil { return }
            if !Mutant.isOn(.poisonForgotten) { poison() }
""",
    ),
    Edit(
        "Sources/ToftStorage/Sharing/ReaderTable.swift",
        """\
                if ring.token == token {
""",
        """\
                if ring.token == token || Mutant.isOn(.pinStoredWithoutLookingAgain) {
""",
    ),
    Edit(
        "Sources/ToftStorage/Sharing/ProcessTable.swift",
        """\
        guard incarnation & Self.incarnationMask == owner.incarnation else { return true }
""",
        """\
        guard incarnation & Self.incarnationMask == owner.incarnation else { return true }
        if Mutant.isOn(.deadOwnerByNumberOnly) {
            return identity(of: owner.index).hasEnded(seenBy: me)
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/Checkpoint.swift",
        """\
        coordinator.checkpointVersion = published.version
""",
        """\
        coordinator.checkpointVersion = Mutant.isOn(.checkpointNotPinned) ? 0 : published.version
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/Checkpoint.swift",
        """\
        try writeOut(published, work)
        try sync()
""",
        """\
        try writeOut(published, work)
        if !Mutant.isOn(.checkpointNotSynced) { try sync() }
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/Checkpoint.swift",
        """\
        if newest.version > coordinator.durableVersion {
""",
        """\
        if newest.version > coordinator.durableVersion && !Mutant.isOn(.inDoubtMetaForgotten) {
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        if let added { try store.file.clear(added.page, count: added.pageCount) }
""",
        """\
        if let added { try store.file.clear(added.page, count: added.pageCount) }
        if Mutant.isOn(.fileCutTooEarly) { cutFile(to: version) }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store+Log.swift",
        """\
        guard snapshot.version < meta.version else { return (segments, meta.version) }
""",
        """\
        if snapshot.version >= meta.version || Mutant.isOn(.deadWritersLogOverlooked) {
            return (segments, meta.version)
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        store.coordinator.setLog(log, tail: version.log.position)
""",
        """\
        store.coordinator.setLog(
            Mutant.isOn(.movedLogForgotten) ? store.coordinator.log : log,
            tail: version.log.position)
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        if store.coordinator.isPoisoned { throw .poisoned }
""",
        """\
        if store.coordinator.isPoisoned && !Mutant.isOn(.poisonForgotten) { throw .poisoned }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        try mapRoot(of: version)
        try Failpoint.pass(.pagesWritten)
        version.log = frame.after
""",
        """\
        try mapRoot(of: version)
        try Failpoint.pass(.pagesWritten)
        if Mutant.isOn(.publishedBeforeLog) { store.coordinator.publish(version) }
        version.log = frame.after
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        if log.salt == 0 { log.salt = try LogRing.newSalt(of: store.template.databaseID) }
        // 3. The record joins the version; checksums are computed from the leaves up to the root.
        var version = try builder.build(record, total: total)
""",
        """\
        if log.salt == 0 { log.salt = try LogRing.newSalt(of: store.template.databaseID) }
        // 3. The record joins the version; checksums are computed from the leaves up to the root.
        var version = try builder.build(record, total: total)
        let listed = added != nil && Mutant.isOn(.segmentNotListed) ? store.coordinator.log : log
        if Mutant.isOn(.metaBeforePages) { try store.writeMeta(version, log: log) }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
        try orPoison { () throws(StorageError) in try store.file.sync() }
        try Failpoint.pass(.pagesSynced)
        // 5. The meta is written, durably. A marker in the log follows, for the chain of records to
        //    pass through: the next durable write of the log covers it.
        try orPoison { () throws(StorageError) in try store.writeMeta(version, log: log) }
""",
        """\
        if !Mutant.isOn(.noSyncBeforeMeta) {
            try orPoison { () throws(StorageError) in try store.file.sync() }
        }
        try Failpoint.pass(.pagesSynced)
        if Mutant.isOn(.publishedBeforeMeta) { store.coordinator.publish(version) }
        // 5. The meta is written, durably. A marker in the log follows, for the chain of records to
        //    pass through: the next durable write of the log covers it.
        try orPoison { () throws(StorageError) in try store.writeMeta(version, log: listed) }
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/CommitGroup.swift",
        """\
            if state.hasFailed { return .failed }
""",
        """\
            if state.hasFailed { return Mutant.isOn(.groupFailureHidden) ? .done : .failed }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Commit.swift",
        """\
            start + length - store.coordinator.logTail <= map.capacity
""",
        """\
            start + length - store.coordinator.logTail <= map.capacity
                || Mutant.isOn(.logTailIgnored)
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/LogAppend.swift",
        """\
            map: first.map, from: first.durable,
""",
        """\
            map: first.map, from: Mutant.isOn(.deferredNotCovered) ? first.end : first.durable,
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/LogAppend.swift",
        """\
            bytes += frame.bytes
""",
        """\
            bytes += frame.bytes
        }
        if Mutant.isOn(.logNotDurable) {
            return try bytes.withBytes { bytes throws(StorageError) in
                try file.write(bytes, at: offset)
            }
""",
    ),
    Edit(
        "Sources/ToftStorage/Opening/Recovery.swift",
        """\
                fromDevice: true, of: cache.file)
""",
        """\
                fromDevice: !Mutant.isOn(.recoveryTrustsTheCache), of: cache.file)
""",
    ),
    Edit(
        "Sources/ToftStorage/Opening/Recovery.swift",
        """\
        found.logMap.salt =
            found.logMap.segments.isEmpty ? 0 : try LogRing.newSalt(of: found.databaseID)
        try MetaPage.write(found, slot: idle, to: cache.file)
""",
        """\
        if !Mutant.isOn(.saltKept) {
            found.logMap.salt =
                found.logMap.segments.isEmpty ? 0 : try LogRing.newSalt(of: found.databaseID)
        }
        try MetaPage.write(
            found,
            slot: Mutant.isOn(.recoveryOverwritesItsMeta) ? slot : MetaPage.other(than: slot),
            to: cache.file)
""",
    ),
    Edit(
        "Sources/ToftStorage/Opening/Recovery.swift",
        """\
        if meta.identity != identity && !meta.isClosedCleanly {
""",
        """\
        if meta.identity != identity && !meta.isClosedCleanly && !Mutant.isOn(.copyNotVerified) {
""",
    ),
    Edit(
        "Sources/ToftStorage/Durability/MetaPage+Confirmation.swift",
        """\
        guard meta.isClosedCleanly else { return }
        let isTwice =
""",
        """\
        guard meta.isClosedCleanly, !Mutant.isOn(.lostMetaNotSeen) else { return }
        let isTwice =
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Replay.swift",
        """\
    private func apply(_ effect: Effect, _ bytes: [UInt8], _ raw: UnsafeRawBufferPointer)
        throws(StorageError)
    {
""",
        """\
    private func apply(_ effect: Effect, _ bytes: [UInt8], _ raw: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        if effect.isDerived && Mutant.isOn(.derivedNotReplayed) { return }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store+Log.swift",
        """\
        try coordinator.orPoison { () throws(StorageError) in try rest.rewrite(to: file) }
""",
        """\
        if Mutant.isOn(.flushForgetsPoison) {
            try rest.rewrite(to: file)
        } else {
            try coordinator.orPoison { () throws(StorageError) in try rest.rewrite(to: file) }
        }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
        if let failure { throw failure }
""",
        """\
        if let failure, !Mutant.isOn(.closeErrorSwallowed) { throw failure }
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
            if previousOwnerDied {
""",
        """\
            if previousOwnerDied && !Mutant.isOn(.deadWriterNotTakenOver) {
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
    private func pins(_ visible: Version, _ beingWritten: Version?) throws(StorageError)
        -> [Version]
    {
""",
        """\
    private func pins(_ visible: Version, _ beingWritten: Version?) throws(StorageError)
        -> [Version]
    {
        let isOutOfOrder = Mutant.isOn(.durableVersionReadFirst)
        let durableAtFirst = isOutOfOrder ? coordinator.durableVersion : 0
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
        let durableBefore = coordinator.durableVersion
""",
        """\
        let durableBefore = isOutOfOrder ? durableAtFirst : coordinator.durableVersion
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
        let durable = coordinator.durableVersion
""",
        """\
        if Mutant.isOn(.pinsIgnored) { return [] }
        let durable = isOutOfOrder ? durableAtFirst : coordinator.durableVersion
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Store.swift",
        """\
                version: coordinator.claimVersion(), pins: pins)
""",
        """\
                version: Mutant.isOn(.versionReusedAfterRollback)
                    ? published.version + 1 : coordinator.claimVersion(),
                pins: pins)
""",
    ),
    Edit(
        "Sources/ToftStorage/Transaction/Writer.swift",
        """\
        let isCurrent = committedVersion == base.version
""",
        """\
        let isCurrent = committedVersion == base.version || Mutant.isOn(.othersCommitOverlooked)
""",
    ),
    Edit(
        "Sources/ToftStorage/TreeWrite/TreeWriter.swift",
        """\
        for index in first..<first + count {
""",
        """\
        let lost = Mutant.isOn(.entryLostOnTheWay) ? 1 : 0
        for index in first..<first + count - lost {
""",
    ),
]

PARTS = ["Package.swift", "Package.resolved", "Sources", "Tests", "include", "bindings/c"]
DECLARATION = "Sources/ToftPlatform/Mutant.swift"


def planted(path: str, text: str) -> str:
    """The text of a file with its mutants."""
    for edit in EDITS:
        if edit.path != path:
            continue
        if text.count(edit.text) != 1:
            sys.exit(f"{path}: this text is there {text.count(edit.text)} times:\n{edit.text}")
        text = text.replace(edit.text, edit.mutated)
    is_outside = path.startswith("Sources/") and not path.startswith("Sources/ToftPlatform/")
    if is_outside and "import ToftPlatform\n" not in text:
        text = "internal import ToftPlatform\n" + text
    return text


def declaration() -> str:
    """The Swift file that declares all mutants."""
    lines = [
        "internal import Glibc",
        "",
        "/// The engine with one deliberate mistake.",
        "package enum Mutant: String, CaseIterable, Sendable {",
    ]
    for names in TRIALS.values():
        lines += [f"    case {name}" for name in names]
    lines += [
        "",
        "    /// The one that the environment asks for.",
        '    package static let chosen = getenv("TOFT_MUTANT").flatMap {',
        "        Mutant(rawValue: String(cString: $0))",
        "    }",
        "",
        "    package static func isOn(_ mutant: Mutant) -> Bool { chosen == mutant }",
        "",
        "    /// The trial that has to find it.",
        "    package var trial: String {",
        "        switch self {",
    ]
    for trial, names in TRIALS.items():
        cases = ", ".join(f".{name}" for name in names)
        lines.append(f'        case {cases}: "{trial}"')
    lines += ["        }", "    }", "}", ""]
    return "\n".join(lines)


def write(path: Path, content: bytes) -> None:
    """Writes a file unless it is what it should be, so that the next build is a short one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(__file__).resolve().parent.parent
    destination = Path(sys.argv[1])
    named = {name for edit in EDITS for name in re.findall(r"isOn\(\.(\w+)\)", edit.mutated)}
    declared = {name for names in TRIALS.values() for name in names}
    if named != declared:
        sys.exit(f"without an edit, or without a trial: {sorted(named ^ declared)}")
    edited = {edit.path for edit in EDITS}
    kept = {DECLARATION}
    write(destination / DECLARATION, declaration().encode())
    for part in PARTS:
        for file in [root / part] if (root / part).is_file() else (root / part).rglob("*"):
            path = str(file.relative_to(root))
            if not file.is_file() or "__pycache__" in path:
                continue
            content = file.read_bytes()
            if path in edited:
                content = planted(path, content.decode()).encode()
                edited.remove(path)
            write(destination / path, content)
            kept.add(path)
    if edited:
        sys.exit(f"these files are gone: {sorted(edited)}")
    for part in ["Sources", "Tests"]:
        for file in (destination / part).rglob("*"):
            if file.is_file() and str(file.relative_to(destination)) not in kept:
                file.unlink()


if __name__ == "__main__":
    main()
