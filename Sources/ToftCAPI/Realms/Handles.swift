public import CToft
internal import ToftEngine

@c @implementation
public func toft_handle_count(_ out_count: UnsafeMutablePointer<UInt64>?) -> toft_status {
    entry { () throws(EngineError) in
        try Argument.out(out_count, "out_count").pointee = HandleTable.shared.count
    }
}
