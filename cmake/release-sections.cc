// Takes the mark "retain" from the code of a static library, so that the linker leaves out the
// functions that nothing calls: release-sections ARCHIVE NEW-ARCHIVE.
//
// The compiler marks every public function of the Swift runtime as used, each in a section of its
// own. What is found at run time is found through the metadata, whose sections keep the mark, and
// which refers to its functions.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <string>

static const Elf64_Xword retain = 1 << 21; // SHF_GNU_RETAIN

// Returns false where a header lies outside the file.
static bool release(char *file, size_t size) {
    Elf64_Ehdr header;
    if (size < sizeof header) return true;
    std::memcpy(&header, file, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return true;
    auto section = [&](uint64_t index, Elf64_Shdr &found) {
        uint64_t offset = header.e_shoff + index * sizeof found;
        if (header.e_shoff > size || offset > size || sizeof found > size - offset) return false;
        std::memcpy(&found, file + offset, sizeof found);
        return true;
    };
    Elf64_Shdr first, names;
    if (!section(0, first)) return false;
    // What does not fit into 16 bits stands in the first section.
    uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    if (!section(header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link, names))
        return false;
    for (uint64_t index = 0; index < count; index++) {
        Elf64_Shdr code;
        if (!section(index, code)) return false;
        uint64_t name = names.sh_offset + code.sh_name;
        if (name > size || size - name < 6) return false;
        if (std::memcmp(file + name, ".text.", 6) != 0) continue;
        code.sh_flags &= ~retain;
        std::memcpy(file + header.e_shoff + index * sizeof code, &code, sizeof code);
    }
    return true;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    std::ifstream input(arguments[1], std::ios::binary);
    std::string archive((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    const size_t member_header = 60, size_offset = 48;
    if (archive.compare(0, 8, "!<arch>\n") != 0)
        return std::fprintf(stderr, "%s is no archive\n", arguments[1]), 1;
    for (size_t start = 8; start + member_header <= archive.size();) {
        size_t size = std::strtoull(archive.substr(start + size_offset, 10).c_str(), nullptr, 10);
        start += member_header;
        if (size > archive.size() - start || !release(&archive[start], size))
            return std::fprintf(stderr, "%s is damaged\n", arguments[1]), 1;
        start += size + (size & 1);
    }
    std::ofstream output(arguments[2], std::ios::binary);
    output << archive;
    return output.flush() ? 0 : 1;
}
