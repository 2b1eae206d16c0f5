# -*- coding: utf-7 -*-
"""A comment that is code in the encoding that the file declares.

How: in UTF-7, `+AAo-` is a line break: what scanners take for a comment Python would run. Seen: known ways round source
scans. Defence: a submission is read as UTF-8, whatever it declares; what it does is judged, not its words.
"""
# expected: CHECKED checked

from forging import custom_kernel  # noqa: F401
# +AAo-raise SystemExit(7)
