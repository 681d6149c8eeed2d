"""`python -m folioreel`."""

from folioreel.cli import main

main()
