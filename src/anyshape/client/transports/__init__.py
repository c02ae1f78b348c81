"""The ways a client reaches a server: in memory, a child process, HTTP."""
