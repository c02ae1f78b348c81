"""What a server offers, one module for each feature.

`feature` says what a feature is, `roster` how the things that one has are listed, and
`announcements` how clients learn that they changed. A server loads only the features it uses.
"""
