"""Checks of the lobby and the ratings service, and of releases."""

from numbridge.cli.checks.finding import Finding, fail, ok, warn
from numbridge.cli.inside import Inside
from numbridge.cli.inspection import Inspection


async def check_inner(inside: Inside) -> list[Finding]:
    """Whether everybody answers, from here, and whether all run the same release."""
    seen = await Inspection(inside).look()
    found = [
        fail(
            "workers",
            f"{worker['worker']} does not answer at {worker['addr']}",
            "Kill it if it hangs; its log says more",
        )
        for worker in seen["workers"]
        if not worker["answers"]
    ]
    for lobby in seen["lobbies"]:
        if lobby["answers"]:
            found.append(ok("lobby", f"{lobby['lobby']}: {len(lobby['pools'])} rooms, {lobby['seeks']} seeks"))
        else:
            found.append(fail("lobby", f"no answer at {lobby['addr']}", "Start it, or mend NUMBRIDGE_LOBBY_ADDR"))
    if seen["ratings"] is None:
        said = f"no answer at {inside.settings.ratings_addr}"
        found.append(fail("ratings", said, "Start it, or mend NUMBRIDGE_RATINGS_ADDR; it waits for SQL"))
    else:
        found.append(ok("ratings", f"{seen['ratings']['waiting']} results wait"))
    releases = seen["versions"]["numbridge"]
    if len(releases) > 1:
        shown = ", ".join(f"{release} ({count})" for release, count in releases.items())
        found.append(warn("release", f"several run side by side: {shown}", "Finish the upgrade"))
    return found
