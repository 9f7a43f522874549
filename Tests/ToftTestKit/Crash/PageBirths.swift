/// The transaction that wrote each page under each birth version: a page and its birth name one
/// content forever, so that no reader, who may remember either, can take one for the other.
package struct PageBirths {
    private struct Place: Hashable {
        var page: UInt64
        var birth: UInt64
    }

    private var owners: [Place: Int] = [:]
    private var transaction = 0
    /// The commit that was begun last, and by which transaction; the transactions whose commits
    /// returned.
    private var begun: (number: Int, transaction: Int)?
    private var seen: Set<Int> = []

    package init() {}

    /// Follows a history.
    ///
    /// - Throws: the pages that were born twice.
    package mutating func follow(_ events: some Sequence<DiskEvent>) throws {
        for event in events {
            switch event {
            case .transaction: transaction += 1
            case .write(let offset, let bytes): try note(bytes, at: offset)
            case .began(let number): begun = (number, transaction)
            case .returned(let number), .acknowledged(let number):
                if let begun, begun.number == number { seen.insert(begun.transaction) }
            default: break
            }
        }
    }

    /// Forgets transactions that never became a version visible to any process: such numbers may
    /// come again when all processes of that time have ended.
    package mutating func forgetUnseen() { owners = owners.filter { seen.contains($0.value) } }

    private mutating func note(_ bytes: [UInt8], at offset: Int) throws {
        guard offset % PageContent.size == 0 else { return }
        for start in stride(from: 0, to: bytes.count - PageContent.size + 1, by: PageContent.size) {
            guard let place = place(bytes, start, page: UInt64((offset + start) / PageContent.size))
            else { continue }
            let owner = owners[place, default: transaction]
            guard owner == transaction else {
                throw Failure(
                    "page \(place.page) was born in version \(place.birth) twice, in two "
                        + "transactions"
                )
            }
            owners[place] = transaction
        }
    }

    /// The place in the header of an extent, if the page begins with one: its type is a small
    /// number and it names its own page.
    private func place(_ bytes: [UInt8], _ start: Int, page: UInt64) -> Place? {
        bytes.withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 {
                bytes.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self)
            }
            guard page >= 2, (2...64).contains(bytes[start]), word(8) == page, word(16) != 0 else {
                return nil
            }
            return Place(page: page, birth: word(16))
        }
    }
}
