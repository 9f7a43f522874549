// Stand-ins until clusters are there.
package import ToftModel
internal import ToftStorage
extension Table { func rank(of key: Int64) throws(StorageError) -> Int { 0 } }
extension Touched {
    init(comparing old: ModelView, with new: ModelView) throws(EngineError) { self.init(differences: [:]) }
}
extension ModelView {
    func allKeys(of owner: ClassHandle) throws(ModelError) -> [Int64] {
        var keys: [Int64] = []
        for rank in 0..<(try count(owner)) { let table = try table(owner); keys.append(try stored { () throws(StorageError) in try table.key(atRank: rank) }) }
        return keys
    }
}
package struct ColumnBuffer {
    package var property: PropertyID?
    package var values: UnsafeMutableRawPointer
    package var nulls: UnsafeMutablePointer<UInt8>?
    package init(property: PropertyID?, values: UnsafeMutableRawPointer, nulls: UnsafeMutablePointer<UInt8>?) {
        self.property = property
        self.values = values
        self.nulls = nulls
    }
    package static func elementSize(of property: PropertyHandle) -> Int? {
        guard property.collection == .none else { return nil }
        switch property.type {
        case .bool: return 1
        case .float: return 4
        case .int, .double, .link: return 8
        case .string, .data, .date: return 16
        case .linkingObjects: return nil
        }
    }
}
extension Results {
    package func read(_ buffers: [ColumnBuffer], from first: Int, capacity: Int) throws(EngineError) -> Int { 0 }
}
