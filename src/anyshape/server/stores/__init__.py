"""What the replicas of a server share, so that they behave as one.

    redis_store   where it is: Valkey or Redis, and how it is spoken to
    link          the link of one process to it: news and signals, both ways
    exchange      answers to questions that another process has asked
    sessions      what sessions have subscribed to, and replies gone on with elsewhere

A server that is given no store imports nothing of this.
"""
