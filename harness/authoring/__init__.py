"""Problems' folders as their organisers make them: begun, brought in from elsewhere, checked, their season's cost told.

    scaffold    `harness new-problem`: a folder that loads, runs and qualifies, to be edited
    check       `harness check-problem`: every fault of a folder at once, with file and line
    unwritten   what is still to write in it: every FIXME, by file and line
    estimate    what a season would spend on a problem
    event       `harness import-problem`: the folders of the GPU MODE and Helion events, brought into our form

It decides nothing about submissions, prints nothing, and imports no organiser's Python: where that must run, a child
process of `qualify` does it.
"""
