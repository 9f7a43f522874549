public import CToft
internal import ToftEngine
internal import ToftPlatform

@c @implementation
public func toft_import_realm(
    _ options: UnsafePointer<toft_import_realm_options>?,
    _ out_report: UnsafeMutablePointer<toft_import_realm_report>?
) -> toft_status {
    entry { () throws(EngineError) in
        let options = try Argument.structure(options, "options")
        let out = try Argument.outStructure(out_report, "out_report")
        let path = try Argument.givenPath(options.path)
        let newPath = try Argument.givenPath(options.new_path, "new_path")
        let key = try Argument.key(options.key, options.key_size, "key")
        let newKey = try Argument.key(options.new_key, options.new_key_size, "new_key")
        let importing = { () throws(EngineError) -> RealmImportReport in
            try Database.importRealm(path, to: newPath, key: key, newKey: newKey) { done, total in
                guard let progress = options.progress else { return }
                ThreadMark.current.refusingCalls {
                    progress(options.progress_user_data, UInt64(done), UInt64(total))
                }
            }
        }
        let found: RealmImportReport
        if let word = options.interrupt {
            found = try InterruptProbe(word).watching(importing)
        } else {
            found = try importing()
        }
        if let note = options.note {
            for text in found.notes {
                let text = CString(text)
                withExtendedLifetime(text) {
                    ThreadMark.current.refusingCalls { note(options.note_user_data, text.string) }
                }
            }
        }
        var report = toft_import_realm_report()
        report.format = UInt64(found.format)
        report.schema_version = found.schemaVersion ?? 0
        report.class_count = UInt64(found.classes.count)
        report.object_count = UInt64(found.objects)
        Argument.fill(out, report)
    }
}
