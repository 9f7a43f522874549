internal import ToftModel
internal import ToftStorage

/// The effect of a commit or of a transaction on the rows of its table: the one place that
/// distinguishes the kinds of effects for readers of changes.
enum RowChange {
    /// The effect's `count` rows from its `key` on were inserted.
    case inserted
    /// They went.
    case erased
    /// The cell was set.
    case set
    /// The cell was set, or its list changed in a way that is not recorded.
    case touched
    /// The list of the cell was edited.
    case edited(ListEdit)

    /// Nil if no row changed: for trees and columns.
    init?(_ effect: Effect) {
        switch effect.kind {
        case .rowInsert, .rowsInserted: self = .inserted
        case .rowErase, .rowsErased: self = .erased
        case .cellSet: self = .set
        case .cellTouched: self = .touched
        case .listInsert: self = .edited(.insert(effect.index))
        case .listSet: self = .edited(.set(effect.index))
        case .listErase: self = .edited(.erase(effect.index))
        case .listMove: self = .edited(.move(effect.index, effect.otherIndex))
        case .listSwap: self = .edited(.swap(effect.index, effect.otherIndex))
        case .listClear: self = .edited(.clear)
        case .treePut, .treeDelete, .treeCreate, .treeDrop, .columnAdd, .columnRemove: return nil
        }
    }
}

extension PropertyRef {
    /// The property that an effect set or changed.
    init(_ effect: Effect, of owner: ClassHandle) {
        self.init(classID: owner.id, propertyID: DictionaryColumns.property(of: effect.column))
    }
}
