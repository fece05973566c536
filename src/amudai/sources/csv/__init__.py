"""How does CSV text become columns?

`reader.py` opens a file. `dialect.py` decides on delimiter and quote, `header.py` on names, `types.py` on types.
`records.py` cuts the text into stretches of whole records, and into records with their line numbers where that is
needed: a quoted value may contain line ends. `columns.py` lets the kernels read stretches in which all values have a
plain form. `parse.py` lets pyarrow parse the records of other stretches, and names what is wrong with a bad one. Both
give the same values.

**Text.** A byte order mark tells UTF-8, UTF-16 and UTF-32. Other text is UTF-8 if it can be, UTF-16 if every second
byte is zero, else Windows-1252 or Latin-1 (`sources/text.py`). Lines end with a line feed, a carriage return, or both.

**Records.** The delimiter is one of `,` `;` tab `|` `^` `~` U+001F U+0001, rarely `:` or a space: the one that gives
records of equal length, with values that look like one value. The first 64 KiB decide; a `.tsv` file prefers the tab.
An Excel line `sep=;` decides too, and is left out. Values may be in `"`, and a quote inside is doubled. Quotes are `'`
if values are wrapped in them, and there are none if `"` only occurs where no quote can be, or if all lines have as many
values without them. A quote in the middle of a value is an ordinary character. A backslash is one too, unless only
backslashes before quotes explain the quotes (`escapes.py`). Empty lines are no records, unless there is one column:
then each after the first record has an empty value. If the file begins with lines of `#`, such lines are comments,
unless all at the beginning have as many values as the records. If the last has, and the records have no other header,
it is the header. Up to 20 lines with fewer values are left out if words above numbers or an empty line show that the
header follows them.

**Names.** The first record has the names if it does not look like the others: words above numbers, times or booleans.
It has none if it looks like them. In doubt it has them. Columns without a name are `column_1`, `column_2`... by place.
Two equal names are an error, or the second `a` becomes `a_1`.

**Types.** The first 4 MiB decide. Whole numbers of up to 18 digits are `int64`; numbers with a fraction or exponent are
`double`; `true` and `false` (also `True`, `TRUE`) are `bool`. Times and dates in ISO 8601 follow `sources/times.py`;
times of day are text. A column is text if a number in it has a leading zero, a plus sign or more than 18 digits, if
doubles would round whole numbers among fractions, or if a number is too large for a double. Blanks around numbers do
not count. The empty text and `NA`, `N/A`, `#N/A`, `null`, `NULL`, `NaN`, `nan` (and a few more, in `types.py`) are
null, but in columns of text they are text. If the caller states the texts that mean null, they are null in all columns,
and no others are. A column of nulls alone is `null`.

**Bad records.** A record is bad if it has more or fewer values than there are columns, if a value does not fit the type
of its column, if text follows a quote that closes a value (`quotes.py`), if it is not text in the encoding, or if it is
longer than 64 MiB. So is a number after the first 4 MiB that would have made its column text. If nothing closes a
quote, the line on which it opens is bad, and the next line begins a new record.
"""
