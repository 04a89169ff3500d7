"""Runs the executable that was installed with this package: python -m latency_bench."""

import importlib.metadata
import os
import pathlib
import sys


def main():
    ending = ("bin", "latency-bench")
    files = importlib.metadata.files("latency-bench") or []
    places = [file.locate() for file in files if file.parts[-2:] == ending]
    # After `pip install --target` it is beside the package.
    places.append(pathlib.Path(__file__).parent.parent.joinpath(*ending))
    program = next(filter(os.path.isfile, places), None)
    if program is None:
        sys.exit("latency-bench: the executable of this package is not there: install it again")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
