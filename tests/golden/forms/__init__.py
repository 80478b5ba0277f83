"""The table of instruction forms whose results on real hardware are recorded.

Each module of this package is one *family*; its `forms(table)` adds rows to a Table. A row is a few
lines of PTX over the registers %a0 %a1 … (inputs) and %d0 %d1 … (results), the kind of every input
(inputs.h says which values a kind produces), the type of every result, and how results compare.
"""

from .table import Form, Table, FAMILIES, family_table  # noqa: F401
