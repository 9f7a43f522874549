/// One edit of a list, with the indices at its time.
enum ListEdit: Sendable, Equatable {
    case insert(Int)
    case erase(Int)
    case set(Int)
    /// The second is the index that the element has afterwards.
    case move(Int, Int)
    case swap(Int, Int)
    case clear
}
