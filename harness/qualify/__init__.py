"""Qualification: is a problem able to tell right from wrong? Honest variants must pass, every mutant must fail.

    child process   `__main__` loads the problem (`candidates`), judges every candidate on every case as a submission
                    would be (`trials`), and measures what depends on what (`influence`)
    organisers      `arithmetic` and `mistakes`: what a problem's mutants.py is written with
    parent          `process` starts the child, `measurements` is what it says, `conditions` judges that;
                    no torch here, and no code of the organiser's

It decides nothing about submissions, and prints nothing.
"""
