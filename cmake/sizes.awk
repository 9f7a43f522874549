# Sums the symbols of the library by module, prints a table and compares it with budgets.txt, which is read first:
#   nm --print-size --defined-only --radix=d link/libtoft.so | awk -v total=BYTES -f sizes.awk budgets.txt -
# `total` is the size of the stripped file. Ends with status 1 if a module or the file is larger than its budget.
FNR == NR {
  if (!/^#/ && NF == 2) { budget[$1] = $2; names[++count] = $1 }
  next
}
NF == 4 && tolower($3) != "b" {
  module = "runtime"
  if ($4 ~ /^toft_/) module = "ToftCAPI"
  # A mangled name has its module behind the length of that, which is 8 or more: $s11ToftStorage...
  else if (match($4, /([89]|1[0-9])Toft[A-Z]/)) {
    module = substr($4, RSTART)
    sub(/[^0-9].*/, "", module)
    module = substr($4, RSTART + length(module), module)
    if (!(module in budget)) { budget[module] = 0; names[++count] = module }
  }
  size[module] += $2
}
END {
  size["total"] = total
  for (i = 1; i <= count; i++) {
    name = names[i]
    beyond = size[name] > budget[name]
    printf "%-14s %9d of %9d bytes%s\n", name, size[name], budget[name], beyond ? ": too many" : ""
    failed = failed || beyond
  }
  if (failed) print "A commit that needs more bytes raises the budget of its module in cmake/budgets.txt."
  exit failed
}
