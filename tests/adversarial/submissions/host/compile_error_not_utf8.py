"""Source in another encoding, which a scanner reads differently from Python.

How: bytes that are no UTF-8. Seen: known ways round source scans. Defence: refused before anything runs.
"""
# expected: COMPILE_ERROR not_utf8
def custom_kernel(data):  # é
    return data[0]
