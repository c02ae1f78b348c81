"""What a client of a handshake is told over HTTP beside the answers to its requests.

    table       the sessions of which anything is remembered
    standing    the stream that a GET opens: news
    replies     replies to requests, kept for those who come back for them
    event_ids   what an event is known by, when a client comes back for what follows it
    endpoint    GET and DELETE

A server that answers nothing but POST imports nothing of this.
"""
