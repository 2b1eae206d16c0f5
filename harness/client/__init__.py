"""The client of a leaderboard service: submits to it, follows what becomes of it, reads its boards and its queue.

It speaks to the service's API over `requests` and shares no code with the server. A server's answer is untrusted: it is
bounded in size and depth, parsed strictly, and its text is shown inert. A token goes to the server that it is for, in a
header, over TLS, and nowhere else: it is never taken from a command line or an address.
"""
