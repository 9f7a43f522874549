// The header as a module, which is how Swift sees it.
@import CToft;

static int use(void) {
    return toft_value_int(3).type == TOFT_TYPE_INT;
}
int (*user)(void) = use;
