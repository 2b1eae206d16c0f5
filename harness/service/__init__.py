"""The leaderboard service: teams post submissions, workers build and replay them, everyone sees one board.

`engine` says what a stage does, `board` who stands where; here is what is in between: a database that several
processes share, a queue whose results only the holder of a lease can write, who may do what, and the HTTP API.
"""
