/// A regular expression made ready to run: all ways through the expression are followed at once, so
/// a text takes a time that is at most the product of both lengths, and memory of the expression's
/// length.
final class ExpressionMatcher {
    private let program: [RegularExpression.Instruction]
    private let options: StringOptions
    private var states: [Int] = []
    private var following: [Int] = []
    private var open: [Int] = []
    /// For each instruction the step at which it was last reached.
    private var reached: [Int]
    private var step = 0

    init(_ expression: RegularExpression, _ options: StringOptions) {
        self.options = options
        program =
            options.isEmpty
            ? expression.program : expression.program.map { Self.folded($0, options) }
        reached = Array(repeating: -1, count: program.count + 1)
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

    /// Whether the whole text matches.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        var character = next(text, &position)
        states.removeAll(keepingCapacity: true)
        step = 0
        for index in reached.indices { reached[index] = -1 }
        follow(from: 0, atBeginning: true, atEnd: character == nil)
        swap(&states, &following)
        while let current = character {
            if states.isEmpty { return false }
            character = next(text, &position)
            step += 1
            for state in states where accepts(state, current) {
                follow(from: state + 1, atBeginning: false, atEnd: character == nil)
            }
            swap(&states, &following)
            following.removeAll(keepingCapacity: true)
        }
        return reached[program.count] == step
    }

    /// The character at `position`, as written and folded, and steps over it; nil at the end.
    private func next(_ text: UnsafeRawBufferPointer, _ position: inout Int) -> (
        raw: UInt32, folded: UInt32
    )? {
        while position < text.count {
            let (scalar, length) = UTF8Decoding.scalar(text, at: position)
            position &+= length
            if let folded = Self.fold(scalar, options) { return (scalar, folded) }
        }
        return nil
    }

    private func accepts(_ state: Int, _ character: (raw: UInt32, folded: UInt32)) -> Bool {
        switch program[state] {
        case .character(let scalar): return scalar == character.folded
        case .any: return !CharacterSet.endsLine(character.raw)
        case .set(let set):
            if options.isEmpty { return set.contains([character.raw]) }
            var scalars = [character.raw, character.folded]
            if options.contains(.caseInsensitive) {
                let upper = Unicode.Scalar(character.folded)?.properties.uppercaseMapping
                // One letter may have several in capitals, of which none is its own.
                if let upper, upper.unicodeScalars.count == 1, let only = upper.unicodeScalars.first
                {
                    scalars.append(only.value)
                }
            }
            return set.contains(scalars)
        case .split, .jump, .beginning, .end: return false
        }
    }

    /// Adds the states that `start` leads to without a character.
    private func follow(from start: Int, atBeginning: Bool, atEnd: Bool) {
        open.append(start)
        while let state = open.popLast() {
            if reached[state] == step { continue }
            reached[state] = step
            guard state < program.count else { continue }
            switch program[state] {
            case .split(let one, let other):
                open.append(state + other)
                open.append(state + one)
            case .jump(let distance): open.append(state + distance)
            case .beginning: if atBeginning { open.append(state + 1) }
            case .end: if atEnd { open.append(state + 1) }
            case .character, .any, .set: following.append(state)
            }
        }
    }
}
