cmake_minimum_required(VERSION 3.22)
# Installs the package, then builds and runs the consumer project as on a machine without Swift: an empty environment, no path to it.
set(work "${BUILD}/consumer")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")
set(clean env -i PATH=/usr/bin:/bin "HOME=${work}")

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result WORKING_DIRECTORY "${work}")
  message(STATUS "${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}: ${ARGV}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${work}")
# The installed files may be moved to another place, and be staged before (DESTDIR).
run("${CMAKE_COMMAND}" -E env "DESTDIR=${work}/staged" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix /opt/toft)
file(RENAME "${work}/staged/opt/toft" "${prefix}")
run(${clean} cmake -G "${GENERATOR}" -S "${ROOT}/cmake/consumer" -B "${work}/build" "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_C_COMPILER=/usr/bin/cc)
run(${clean} cmake --build "${work}/build")
run(${clean} "${work}/build/consumer")
if(NOT output MATCHES "Rex is 3 years old")
  message(FATAL_ERROR "the consumer said: ${output}")
endif()

# The consumer by pkg-config, whose file knows its place.
run(${clean} "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig" sh -c
  "cc '${ROOT}/cmake/consumer/consumer.c' $(pkg-config --cflags --libs toft) -o by-pkg-config")
run(${clean} "LD_LIBRARY_PATH=${prefix}/${LIBDIR}" "${work}/by-pkg-config")

run(${clean} ldd "${work}/build/consumer")
if(output MATCHES "swift|not found")
  message(FATAL_ERROR "the consumer needs more than was installed")
endif()
