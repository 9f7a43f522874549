internal import ToftPlatform

/// A regular expression made ready to run: all ways through the expression are followed at once, so
/// a text takes a time that is at most the product of both lengths, and memory of the expression's
/// length. One thread uses it.
///
/// A text may have millions of characters: nothing is counted, copied or looked up in an array for
/// each of them, and ASCII is looked up in a mask.
final class ExpressionMatcher {
    /// An instruction, with the numbers of those that it leads to.
    private struct Step {
        enum Kind { case takes, leads, beginning, end }
        var kind = Kind.takes
        /// Two ways on, which may be the same.
        var first = 0
        var second = 0
        /// The ASCII characters that it takes, a bit for each: those from 0 on, and from 64 on.
        var low: UInt64 = 0
        var high: UInt64 = 0
    }

    /// Characters times steps: some milliseconds.
    private static let workBetweenProbes = 1 << 18

    private let program: [RegularExpression.Instruction]
    private let options: StringOptions
    private let steps: UnsafeMutablePointer<Step>
    /// The number of the step behind the last, which is a match.
    private let end: Int
    /// Steps that take a character: those that the text has led to, and to which the next character
    /// leads.
    private let present: UnsafeMutablePointer<Int>
    private let following: UnsafeMutablePointer<Int>
    /// Steps that are still to be followed.
    private let open: UnsafeMutablePointer<Int>
    /// For each step the last place at which it was reached.
    private let reached: UnsafeMutablePointer<Int>
    /// Counts the places between characters, of all texts.
    private var place = 0

    init(_ expression: RegularExpression, _ options: StringOptions) {
        self.options = options
        program =
            options.isEmpty
            ? expression.program : expression.program.map { Self.folded($0, options) }
        end = program.count
        steps = .allocate(capacity: end + 1)
        steps.initialize(repeating: Step(), count: end + 1)
        present = .allocate(capacity: end + 1)
        following = .allocate(capacity: end + 1)
        // Each step is followed once for each place, and then leads to two at most.
        open = .allocate(capacity: 2 * end + 2)
        reached = .allocate(capacity: end + 1)
        reached.initialize(repeating: -1, count: end + 1)
        // A repetition repeats its sets.
        var known: [CharacterSet: Step] = [:]
        for number in 0..<end {
            guard case .set(let set) = program[number] else {
                steps[number] = step(number)
                continue
            }
            steps[number] = known[set] ?? step(number)
            known[set] = steps[number]
        }
    }

    deinit {
        steps.deallocate()
        present.deallocate()
        following.deallocate()
        open.deallocate()
        reached.deallocate()
    }

    private func step(_ number: Int) -> Step {
        var step = Step()
        switch program[number] {
        case .split(let one, let other):
            step.kind = .leads
            step.first = number + one
            step.second = number + other
        case .jump(let distance):
            step.kind = .leads
            step.first = number + distance
            step.second = step.first
        case .beginning: step.kind = .beginning
        case .end: step.kind = .end
        case .character, .any, .set:
            for character: UInt32 in 0..<64 {
                if accepts(number, character) { step.low |= 1 << UInt64(character) }
                if accepts(number, character + 64) { step.high |= 1 << UInt64(character) }
            }
        }
        return step
    }

    private static func folded(
        _ instruction: RegularExpression.Instruction, _ options: StringOptions
    ) -> RegularExpression.Instruction {
        switch instruction {
        case .character(let scalar): return .character(fold(scalar, options) ?? scalar)
        case .set(var set):
            for range in set.ranges where range.count == 1 {
                if let scalar = fold(range.lowerBound, options) {
                    set.ranges.append(scalar...scalar)
                }
            }
            return .set(set)
        default: return instruction
        }
    }

    private static func fold(_ scalar: UInt32, _ options: StringOptions) -> UInt32? {
        if scalar > 0x10FFFF || options.isEmpty { return scalar }
        return CaseFolding.fold(
            scalar, case: options.contains(.caseInsensitive),
            accents: options.contains(.diacriticInsensitive))
    }

    /// Whether the whole text matches. False if somebody ends the call meanwhile.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        var work = 0
        var character = next(text, &position)
        var (present, following) = (present, following)
        var place = place + 1
        defer { self.place = place }
        var count = 0
        follow(
            from: 0, to: present, &count, place, atBeginning: true, atEnd: character == Self.none)
        while character != Self.none {
            if count == 0 { return false }
            let current = character
            character = next(text, &position)
            let atEnd = character == Self.none
            place &+= 1
            var followingCount = 0
            for index in 0..<count {
                let number = present[index]
                guard takes(number, current) else { continue }
                follow(
                    from: number &+ 1, to: following, &followingCount, place, atBeginning: false,
                    atEnd: atEnd)
            }
            swap(&present, &following)
            work &+= count
            count = followingCount
            guard work > Self.workBetweenProbes else { continue }
            work = 0
            if InterruptProbe.thread.endsEarly() { return false }
        }
        return reached[end] == place
    }

    /// No character: the text has ended.
    private static let none = UInt32.max

    /// Returns the character at `position`, unfolded, and advances past it and past ignored
    /// characters before it; `none` at the end.
    @inline(__always)
    private func next(_ text: UnsafeRawBufferPointer, _ position: inout Int) -> UInt32 {
        while position < text.count {
            let byte = text[position]
            if byte < 0x80 {
                position &+= 1
                return UInt32(byte)
            }
            let (scalar, length) = UTF8Decoding.scalar(text, at: position)
            position &+= length
            if Self.fold(scalar, options) != nil { return scalar }
        }
        return Self.none
    }

    @inline(__always)
    private func takes(_ number: Int, _ character: UInt32) -> Bool {
        if character < 64 { return steps[number].low &>> UInt64(character) & 1 != 0 }
        if character < 128 { return steps[number].high &>> UInt64(character &- 64) & 1 != 0 }
        return accepts(number, character)
    }

    /// Whether a step takes a character that counts.
    @inline(never)
    private func accepts(_ number: Int, _ character: UInt32) -> Bool {
        switch program[number] {
        case .character(let scalar): return scalar == Self.fold(character, options)
        case .any: return !CharacterSet.endsLine(character)
        case .set(let set):
            if options.isEmpty { return set.contains([character]) }
            let folded = Self.fold(character, options) ?? character
            var scalars = [character, folded]
            if options.contains(.caseInsensitive) {
                let upper = Unicode.Scalar(folded)?.properties.uppercaseMapping
                // Several letters in capitals may belong to one letter; these are not its upper
                // case.
                if let upper, upper.unicodeScalars.count == 1, let only = upper.unicodeScalars.first
                {
                    scalars.append(only.value)
                }
            }
            return set.contains(scalars)
        case .split, .jump, .beginning, .end: return false
        }
    }

    /// Adds the steps that take a character and to which `start` leads without one.
    @inline(__always)
    private func follow(
        from start: Int, to list: UnsafeMutablePointer<Int>, _ count: inout Int, _ place: Int,
        atBeginning: Bool, atEnd: Bool
    ) {
        var openCount = 1
        open[0] = start
        while openCount > 0 {
            openCount &-= 1
            let number = open[openCount]
            if reached[number] == place { continue }
            reached[number] = place
            guard number < end else { continue }
            switch steps[number].kind {
            case .takes:
                list[count] = number
                count &+= 1
            case .leads:
                open[openCount] = steps[number].second
                open[openCount &+ 1] = steps[number].first
                openCount &+= 2
            case .beginning, .end:
                guard steps[number].kind == .beginning ? atBeginning : atEnd else { continue }
                open[openCount] = number &+ 1
                openCount &+= 1
            }
        }
    }
}
