raise SystemExit("torch.py of the submission was imported")
