"""The schema, brought up to this release: `numbridge ratings migrate`, what the migration job runs."""

import sys

from numbridge.app import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from numbridge.settings import SettingsError
from ratings.ports import StoreAway
from ratings.settings import RatingsSettings
from ratings.store.migrating import migrate


def main() -> int:
    """Migrates what NUMBRIDGE_DATABASE_URL names and says which revision it has now; the exit code."""
    try:
        settings = RatingsSettings.load()
    except SettingsError as error:
        for problem in error.problems:
            print(f"numbridge ratings migrate: {problem}", file=sys.stderr)
        return EXIT_USAGE
    try:
        print(f"the schema is at revision {migrate(settings.database_url)}")
    except StoreAway as error:
        print(f"numbridge ratings migrate: {error}", file=sys.stderr)
        return EXIT_FAILED
    return EXIT_OK
