"""Assembly: from TTIR and launch options to machine code, in a process that holds nothing of the submission's.

Triton's compiler is the only heavy import here: no torch, no Helion, none of the submission's Python. The TTIR is
hostile; it is parsed by MLIR in the sandbox, its operations are compared with an allow-list, and every fact that a
launch needs is taken from the compiler's result, never from the trace.
"""
