raise SystemExit("json.py of the submission was imported")
