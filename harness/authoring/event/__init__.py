"""Bringing in the problem folders of the GPU MODE and Helion events: task.yml with `files`, reference.py, shared utils.

    folder     what the folder holds, and what of its task.yml has no place in ours
    carry      the part of its Python that draws inputs and computes the reference, by its syntax tree
    names      what that calls its tensors
    shapes     its tests and benchmarks as shapes, and which arguments are axes
    seen       that part, run in the sandbox: which tensors go in and come out, and how they are packed (`layout`)
    sizes      sizes of tensors as arithmetic over axes, from what was seen at the tests' shapes
    tensors    our interface: what is an input, a buffer, an output
    write      our files
    bring      the whole, top to bottom

The folder is somebody else's: its Python is untrusted. It is read as a syntax tree, and run nowhere but in the sandbox
that submissions have. The reference.py that is written begins with a line that refuses to be imported, so that nothing
runs it outside before a person has read it and taken that line away.
"""
