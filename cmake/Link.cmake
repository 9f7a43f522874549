cmake_minimum_required(VERSION 3.22)
# Links the Swift objects and the Swift runtime into one library: cmake -DSWIFTC -DOBJECTS -DLIBRARY -DSONAME -DABI -DCXX -DSTRIP -DOBJCOPY -DNM -DPACK -P Link.cmake

file(GLOB objects LIST_DIRECTORIES false
  "${OBJECTS}/CPlatform.build/*.o" "${OBJECTS}/ToftPlatform.build/*.o" "${OBJECTS}/ToftStorage.build/*.o" "${OBJECTS}/ToftModel.build/*.o" "${OBJECTS}/ToftQuery.build/*.o" "${OBJECTS}/ToftRealmFile.build/*.o"
  "${OBJECTS}/ToftEngine.build/*.o" "${OBJECTS}/ToftCAPI.build/*.o")

# SwiftPM leaves the objects of sources that are gone; those must not be linked.
set(current "")
foreach(object IN LISTS objects)
  get_filename_component(directory "${object}" DIRECTORY)
  get_filename_component(name "${object}" NAME_WE)
  set(list "${directory}/sources")
  if(EXISTS "${list}")
    file(READ "${list}" sources)
    get_filename_component(source "${object}" NAME_WLE)
    string(FIND "${sources}" "/${source}" position)
    if(position LESS 0)
      continue()
    endif()
  endif()
  list(APPEND current "${object}")
endforeach()
if(NOT current)
  message(FATAL_ERROR "No objects under ${OBJECTS}")
endif()

get_filename_component(directory "${LIBRARY}" DIRECTORY)
set(link_directory "${directory}/link")
set(unstripped "${link_directory}/libtoft.so")
file(MAKE_DIRECTORY "${link_directory}")
file(WRITE "${link_directory}/toft.map" "TOFT_${ABI} {\n  global: toft_*;\n  local: *;\n};\n")

# The runtime is partly C++: found in this directory first, its static library is taken.
execute_process(COMMAND "${CXX}" -print-file-name=libstdc++.a OUTPUT_VARIABLE static_cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_ABSOLUTE "${static_cxx}")
  file(CREATE_LINK "${static_cxx}" "${link_directory}/libstdc++.a" SYMBOLIC)
endif()

# Nothing unwinds through Swift, neither the runtime nor the engine (both are built without exceptions; debuggers and profilers have the
# frame pointers), and the tables for that would be an eighth of the library.
set(without_unwinding --remove-section=.eh_frame --remove-section=.rela.eh_frame --remove-section=.llvm_addrsig)
set(response "")
foreach(object IN LISTS current)
  get_filename_component(name "${object}" NAME)
  get_filename_component(module "${object}" DIRECTORY)
  get_filename_component(module "${module}" NAME_WE)
  execute_process(
    COMMAND "${OBJCOPY}" ${without_unwinding} "${object}" "${link_directory}/${module}-${name}" COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND response "${link_directory}/${module}-${name}\n")
endforeach()
file(WRITE "${link_directory}/objects" "${response}")

execute_process(COMMAND "${SWIFTC}" -print-target-info -static-stdlib OUTPUT_VARIABLE target COMMAND_ERROR_IS_FATAL ANY)
string(JSON runtime_directory GET "${target}" paths runtimeLibraryPaths 0)
set(runtime "${link_directory}/libswiftCore.a")
if("${runtime_directory}/libswiftCore.a" IS_NEWER_THAN "${runtime}" OR "${CMAKE_CURRENT_LIST_FILE}" IS_NEWER_THAN "${runtime}"
   OR "${CMAKE_CURRENT_LIST_DIR}/release-sections.cc" IS_NEWER_THAN "${runtime}")
  execute_process(
    COMMAND "${OBJCOPY}" ${without_unwinding} --weaken-symbol=_swift_stdlib_getScalarName "${runtime_directory}/libswiftCore.a" "${runtime}.all"
    COMMAND_ERROR_IS_FATAL ANY)
  # Functions that nothing calls, and what only they need, are a tenth of the library.
  set(release "${link_directory}/release-sections")
  execute_process(COMMAND "${CXX}" -O1 "${CMAKE_CURRENT_LIST_DIR}/release-sections.cc" -o "${release}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${release}" "${runtime}.all" "${runtime}" COMMAND_ERROR_IS_FATAL ANY)
endif()

# The names of all Unicode scalars are half a megabyte, and the engine uses no such name:
# `Unicode.Scalar.Properties.name` is nil within the library.
set(no_names "${link_directory}/no-names")
file(WRITE "${no_names}.cpp" "extern \"C\" __attribute__((visibility(\"hidden\"))) long _swift_stdlib_getScalarName(unsigned, unsigned char *, long) { return 0; }\n")
execute_process(COMMAND "${CXX}" -fPIC -O2 -c "${no_names}.cpp" -o "${no_names}.o" COMMAND_ERROR_IS_FATAL ANY)

set(packing "")
if(PACK)
  set(packing -Xlinker -z -Xlinker pack-relative-relocs)
endif()

# 64 KB of zeros, which the runtime fills when a program asks for its backtraces: memory, but no part of the file.
file(WRITE "${link_directory}/zeros.ld" "SECTIONS { swift5_backtrace (NOLOAD) : { *(swift5_backtrace) } } INSERT AFTER .bss;\n")

# Identical functions, mostly of generic code, become one. That is safe: the engine compares no addresses of functions, and the runtime only
# those of key paths to computed properties, which the engine does not compare.
execute_process(
  COMMAND "${SWIFTC}" -emit-library -static-stdlib -use-ld=lld "-L${link_directory}" "@${link_directory}/objects" "${no_names}.o" "${runtime}" -o "${unstripped}"
          -Xlinker "--version-script=${link_directory}/toft.map" -Xlinker "-soname=${SONAME}" -Xlinker --gc-sections -Xlinker --icf=all
          -Xlinker -z -Xlinker nodelete -Xclang-linker -static-libgcc -Xlinker -T -Xlinker "${link_directory}/zeros.ld" ${packing}
  COMMAND_ERROR_IS_FATAL ANY)
# With its names it is for debuggers and tests; the installed one has no names.
execute_process(COMMAND "${STRIP}" --strip-all -o "${LIBRARY}" "${unstripped}" COMMAND_ERROR_IS_FATAL ANY)

get_filename_component(file "${LIBRARY}" NAME)
file(CREATE_LINK "${file}" "${directory}/${SONAME}" SYMBOLIC)
file(CREATE_LINK "${SONAME}" "${directory}/libtoft.so" SYMBOLIC)

# The size of each module. The library is there, whatever its size, so that one can look what has grown.
file(SIZE "${LIBRARY}" size)
set(sizes "${CMAKE_CURRENT_LIST_DIR}/sizes.awk")
execute_process(
  COMMAND "${NM}" --print-size --defined-only --radix=d "${unstripped}"
  COMMAND awk -v "total=${size}" -f "${sizes}" "${CMAKE_CURRENT_LIST_DIR}/budgets.txt" -
  COMMAND_ERROR_IS_FATAL ANY)
