"""One module per revision, named `NNNN_what_it_does.py`. A released revision is never edited."""
