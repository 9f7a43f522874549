#include "CPlatform.h"

/// What a library does when it is loaded, before any of its functions can be called; missing where
/// there is nothing to do.
__attribute__((weak)) void platform_library_loaded(void);

__attribute__((constructor)) static void start(void) {
    if (platform_library_loaded) platform_library_loaded();
}
