"""Questions to a client while one of its requests is answered, in the way of either era.

    questions   what is the same for every question, however it is asked
    exchange    where an answer finds the question it belongs to
    handshake   up to 2025-11-25: a request of our own, and a response that comes on its own
    rounds      at 2026-07-28: a result that wants input, and a request that brings it
    state       what is remembered from round to round, sealed, by whoever asked

Nothing of this is imported before something is asked.
"""
