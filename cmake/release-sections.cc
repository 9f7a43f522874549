// Takes from a static library of the Swift runtime what the engine does not need, so that the
// linker leaves it out: release-sections ARCHIVE NEW-ARCHIVE.
//
// The compiler marks every public function, table and record of the runtime as used, each in a
// section of its own. The mark "retain" is taken from code and tables. Run-time lookups go through
// records, which keep the mark and refer to what they need.
//
// The engine has no vectors of the type SIMD and encodes and decodes no Codable. Records of these
// are excluded. The functions behind the tables of these conformances share one section with those
// of all others, which stays; if they call functions that only they need, they call
// swift_deletedMethodError instead, which ends the process with that message. Calls from outside
// the runtime stay as they are.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static const Elf64_Xword retain = 1 << 21;   // SHF_GNU_RETAIN
static const Elf64_Xword exclude = 1u << 31; // SHF_EXCLUDE

static bool starts(const std::string &text, const char *start) {
    return text.compare(0, std::strlen(start), start) == 0;
}

static bool ends(const std::string &text, const char *end) {
    size_t length = std::strlen(end);
    return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

static bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

// Whether the engine can do without a function, a conformance or a type with this mangled name.
// Mc ends the name of a conformance; SE is Encodable, Se Decodable.
static bool isUnneeded(const std::string &symbol) {
    return contains(symbol, "SIMD") || ends(symbol, "SEsMc") || ends(symbol, "SesMc")
           || contains(symbol, "s7Encoder_p") || contains(symbol, "s7Decoder_p")
           || contains(symbol, "EncodingContainer") || contains(symbol, "DecodingContainer")
           || contains(symbol, "EncodingError") || contains(symbol, "DecodingError")
           || contains(symbol, "9CodingKey") || contains(symbol, "17CodingUserInfoKey");
}

// An object of the archive, which is changed in place. Every read is checked against its size.
struct Object {
    char *file;
    size_t size;
    Elf64_Ehdr header;
    uint64_t count;
    Elf64_Shdr names;
    // By index of a symbol.
    std::vector<bool> unneeded, isFunction;
    // The index of swift_deletedMethodError; 0 if an object does not refer to it.
    uint64_t replacement;

    template <typename Entry> bool read(uint64_t offset, Entry &found) const {
        if (offset > size || sizeof found > size - offset) return false;
        std::memcpy(&found, file + offset, sizeof found);
        return true;
    }

    bool section(uint64_t index, Elf64_Shdr &found) const {
        return header.e_shoff <= size && read(header.e_shoff + index * sizeof found, found);
    }

    bool text(uint64_t offset, std::string &found) const {
        if (offset >= size) return false;
        size_t most = size - offset, length = strnlen(file + offset, most);
        found.assign(file + offset, length);
        return length < most;
    }

    bool sectionName(const Elf64_Shdr &found, std::string &name) const {
        return text(names.sh_offset + found.sh_name, name);
    }

    void mark(uint64_t index, Elf64_Shdr &changed, Elf64_Xword add) {
        changed.sh_flags = (changed.sh_flags & ~retain) | add;
        std::memcpy(file + header.e_shoff + index * sizeof changed, &changed, sizeof changed);
    }

    bool release() {
        Elf64_Shdr symbols = {};
        std::vector<uint64_t> relocated;
        for (uint64_t index = 0; index < count; index++) {
            Elf64_Shdr found;
            std::string name;
            if (!section(index, found) || !sectionName(found, name)) return false;
            if (starts(name, ".text.") || starts(name, ".rodata.") || starts(name, ".data."))
                mark(index, found, 0);
            if (found.sh_type == SHT_SYMTAB) symbols = found;
            if (found.sh_type == SHT_RELA) relocated.push_back(index);
        }
        if (!chooseUnneeded(symbols)) return false;
        for (uint64_t index : relocated)
            if (!relocate(index)) return false;
        return true;
    }

    bool chooseUnneeded(const Elf64_Shdr &symbols) {
        Elf64_Shdr texts;
        uint64_t symbolCount = symbols.sh_size / sizeof(Elf64_Sym);
        if (!section(symbols.sh_link, texts) || symbolCount > size) return false;
        unneeded.assign(symbolCount, false);
        isFunction.assign(symbolCount, false);
        for (uint64_t index = 0; index < symbolCount; index++) {
            Elf64_Sym symbol;
            std::string name;
            if (!read(symbols.sh_offset + index * sizeof symbol, symbol)
                || !text(texts.sh_offset + symbol.st_name, name))
                return false;
            if (name == "swift_deletedMethodError") replacement = index;
            unneeded[index] = starts(name, "$s") && isUnneeded(name);
            isFunction[index] = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC
                                && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
        }
        return true;
    }

    // Excludes the section if it is an unneeded record, and replaces the unneeded functions.
    bool relocate(uint64_t index) {
        Elf64_Shdr relocations, relocated;
        std::string name;
        if (!section(index, relocations) || !section(relocations.sh_info, relocated)
            || !sectionName(relocated, name))
            return false;
        Elf64_Rela relocation;
        for (uint64_t offset = 0; offset < relocations.sh_size; offset += sizeof relocation) {
            uint64_t place = relocations.sh_offset + offset;
            if (!read(place, relocation)) return false;
            uint64_t symbol = ELF64_R_SYM(relocation.r_info);
            if (symbol >= unneeded.size()) return false;
            if (!unneeded[symbol]) continue;
            if (name == "swift5_protocol_conformances" || name == "swift5_type_metadata") {
                if (relocated.sh_size == sizeof(int32_t))
                    mark(relocations.sh_info, relocated, exclude);
            } else if (isFunction[symbol] && replacement != 0) {
                relocation.r_info = ELF64_R_INFO(replacement, ELF64_R_TYPE(relocation.r_info));
                std::memcpy(file + place, &relocation, sizeof relocation);
            }
        }
        return true;
    }
};

// Returns false if an object refers to something outside of it.
static bool release(char *file, size_t size) {
    Object object = {};
    object.file = file;
    object.size = size;
    if (!object.read(0, object.header) || std::memcmp(object.header.e_ident, ELFMAG, SELFMAG) != 0
        || object.header.e_ident[EI_CLASS] != ELFCLASS64)
        return true;
    // A number that does not fit into 16 bits is in the first section.
    Elf64_Shdr first;
    if (!object.section(0, first)) return false;
    const Elf64_Ehdr &header = object.header;
    object.count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    return object.section(names, object.names) && object.release();
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
