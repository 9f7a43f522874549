# Links the Swift objects and the Swift runtime into one library: cmake -DSWIFTC -DOBJECTS -DLIBRARY -DSONAME -DABI -DCXX -P Link.cmake

file(GLOB objects LIST_DIRECTORIES false
  "${OBJECTS}/CPlatform.build/*.o" "${OBJECTS}/ToftStorage.build/*.o" "${OBJECTS}/ToftModel.build/*.o" "${OBJECTS}/ToftQuery.build/*.o"
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
file(MAKE_DIRECTORY "${link_directory}")
file(WRITE "${link_directory}/toft.map" "TOFT_${ABI} {\n  global: toft_*;\n  local: *;\n};\n")
string(REPLACE ";" "\n" response "${current}")
file(WRITE "${link_directory}/objects" "${response}\n")

# The runtime is partly C++: found in this directory first, its static library is taken.
execute_process(COMMAND "${CXX}" -print-file-name=libstdc++.a OUTPUT_VARIABLE static_cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_ABSOLUTE "${static_cxx}")
  file(CREATE_LINK "${static_cxx}" "${link_directory}/libstdc++.a" SYMBOLIC)
endif()

execute_process(
  COMMAND "${SWIFTC}" -emit-library -static-stdlib -use-ld=lld "-L${link_directory}" "@${link_directory}/objects" -o "${LIBRARY}"
          -Xlinker "--version-script=${link_directory}/toft.map" -Xlinker "-soname=${SONAME}" -Xlinker --gc-sections -Xlinker --icf=safe
          -Xlinker --strip-all -Xlinker -z -Xlinker nodelete -Xclang-linker -static-libgcc
  COMMAND_ERROR_IS_FATAL ANY)

get_filename_component(file "${LIBRARY}" NAME)
file(CREATE_LINK "${file}" "${directory}/${SONAME}" SYMBOLIC)
file(CREATE_LINK "${SONAME}" "${directory}/libtoft.so" SYMBOLIC)

file(SIZE "${LIBRARY}" size)
math(EXPR tenths "${size} * 10 / 1048576")
math(EXPR whole "${tenths} / 10")
math(EXPR tenth "${tenths} % 10")
message(STATUS "${file}: ${size} bytes (${whole}.${tenth} MB)")
