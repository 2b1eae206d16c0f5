raise SystemExit("sitecustomize.py of the submission was imported")
