#include "CPlatform.h"

/// A library's start when it is loaded, before any of its functions can be called; missing if it
/// has nothing to do.
__attribute__((weak)) void platform_library_loaded(void);

__attribute__((constructor)) static void start(void) {
    if (platform_library_loaded) platform_library_loaded();
}
