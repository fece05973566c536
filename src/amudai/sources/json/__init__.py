"""How does JSON become batches?

`reader.py` opens a file, `records.py` cuts it into records, `inference.py` finds the types of columns in the first
records. `plan.py` says what the kernels collect for a schema, `columns.py` makes arrays of it, and `troubles.py` says
what is wrong with a record. The kernels are in `cpp/json`.

The rules:

- **Shapes.** Lines: each line is an object. Array: the file is an array of objects, on one line or many; several arrays
  may follow each other. Document: objects over several lines, or several on one line. Every object is a row, so a file
  with one object is one row, whatever is inside. A file that begins with `[` is an array, or lines if each line is an
  array and they hold no objects. A file that begins with `{` has lines if its first line is one object, or if at least
  half of its lines begin and end with a brace.
- **Values.** Records of which none is an object, or in an array fewer than half, are the values of one column, `value`.
- **Memory.** A file is read in blocks of 4 MiB. A record has at most 64 MiB.
- **Types** come from the first block. `null` fits every type. Integers are int64, or uint64 if all are at least 0 and
  one is beyond int64. Numbers with a fraction or an exponent are float64, with integers among them if float64 holds
  them exactly. Texts that are all times follow `sources/times.py`. Objects are structs, and arrays are lists. The same
  holds for nested values.
- **JSON text.** A column with values of several kinds, with integers that a float64 would round, with numbers that are
  too large for float64, or with objects of more than 1,000 different names or an empty name is kept as JSON: type
  `arrow.json`, each value as it stands in the file without the spaces between tokens. The notes of the file say so.
- **Types from the caller.** `string` holds texts as they are and other values as JSON text. `float64` rounds. Decimals
  are read from the digits. A map holds objects as pairs.
- **Bad records** break the rules of JSON (RFC 8259), are no objects where others are, are not UTF-8, have a name twice
  in one object, have half of a surrogate pair, are nested more than 64 levels deep, or are too long. After the first
  block, a record with a new name or with a value that its column cannot hold is bad as well. `NaN`, `Infinity` and
  `-Infinity` are numbers only if `nan` is set.
- **Encodings.** UTF-8, with or without a byte order mark, UTF-16 with one, or what `encoding` says.
"""
