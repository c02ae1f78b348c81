"""`python -m anyshape` is the `anyshape` program."""

from anyshape.cli import main

main()
