raise SystemExit("triton.py of the submission was imported")
