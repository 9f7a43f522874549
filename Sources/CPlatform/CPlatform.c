// The module is its header; a target needs one source file.
#include "CPlatform.h"
