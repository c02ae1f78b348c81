"""The demo server: one tool for each thing that Anyshape does differently."""
