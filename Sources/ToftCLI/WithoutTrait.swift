#if !Terminal
import Foundation

/// The program that a build without the trait `Terminal` makes in place of `toftdb`.
@main
enum Program {
    static func main() {
        let advice = "toftdb: built without its commands. Build it with --traits Terminal.\n"
        FileHandle.standardError.write(Data(advice.utf8))
        exit(64)
    }
}
#endif
