"""What a command may end with besides success.

CliError        one line for stderr and an exit code
  UsageError    wrong usage or unreadable input: exit code 2
  CheckFailed   what was asked for did not come about: exit code 1
"""

DONE, FAILED, USAGE = 0, 1, 2


class CliError(Exception):
    """Ends the command with one line on stderr."""

    code = FAILED


class UsageError(CliError):
    """Wrong usage, or input that cannot be read."""

    code = USAGE


class CheckFailed(CliError):
    """The command understood and could not do it."""

    code = FAILED
