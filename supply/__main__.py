"""`python -m supply audit|licences|sbom [--all] [--index URL]`.

Exit codes: 0 all is well; 1 something is known, or a licence binds; 2 the index gave no answer about some release.
"""

import argparse
import asyncio
import sys

from supply.audit import INDEX, audit
from supply.licences import UNKNOWN, binding, licences
from supply.lock import ALL, RUN, Release, read
from supply.sbom import bill


def main(argv: list[str] | None = None) -> int:
    """Does what was asked and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m supply", description=__doc__)
    parser.add_argument("what", choices=["audit", "licences", "sbom"])
    parser.add_argument("--all", action="store_true", help="tests' and tools' too, not the image's alone")
    parser.add_argument("--index", default=INDEX, help="base address of the index's JSON API")
    args = parser.parse_args(argv)
    releases = read(ALL if args.all else RUN)
    match args.what:
        case "audit":
            return _audit(releases, args.index)
        case "licences":
            return _licences(releases)
        case _:
            sys.stdout.write(bill(releases))
            return 0


def _audit(releases: list[Release], index: str) -> int:
    found = asyncio.run(audit(releases, index))
    for known in found.known:
        mended = f"; mended in {', '.join(known.fixed_in)}" if known.fixed_in else ""
        print(f"{known.release.name} {known.release.version}: {known.id} {known.text}{mended}")
    if found.unasked:
        print(
            f"no answer about {len(found.unasked)} of {len(releases)} releases: {', '.join(found.unasked)}",
            file=sys.stderr,
        )
    print(f"{len(releases) - len(found.unasked)} releases asked about, {len(found.known)} vulnerabilities known")
    return 1 if found.known else 2 if found.unasked else 0


def _licences(releases: list[Release]) -> int:
    bound = False
    for release, terms in licences(releases):
        print(f"{release.name}\t{release.version}\t{terms}")
        if binding(terms):
            bound = True
            print(f"{release.name} comes under terms that bind what uses it", file=sys.stderr)
        elif terms == UNKNOWN:
            print(f"{release.name} is not installed here, or says no licence", file=sys.stderr)
    return 1 if bound else 0


if __name__ == "__main__":
    sys.exit(main())
