"""Users of Redis: which keys and commands each service may use, as rules that its config and ACL file take."""

from collections.abc import Mapping

from numbridge.names import board_key, house_key, limit_key, lobby_key

_EVERYWHERE = "+ping +hello +client|setinfo +client|setname +select"

_RULES: Mapping[str, str] = {
    "lobby": f"~{lobby_key('*')} {_EVERYWHERE} +@read +@write +@scripting +@stream +@transaction +wait +info "
    "-@dangerous -script|kill -script|flush",
    "ratings": f"~{board_key('*')} ~{{{board_key('*')}}}:known {_EVERYWHERE} +@read +@write +@scripting "
    "+@transaction -@dangerous -script|kill -script|flush",
    "gateway": f"~{limit_key('*', '*')} ~{house_key('*')} {_EVERYWHERE} +@read +@write +@scripting +@transaction "
    "+time -@dangerous -script|kill -script|flush",
    "operator": f"~nb:* {_EVERYWHERE} +@read +info +dbsize -keys",
}


def rules(passwords: Mapping[str, str]) -> list[str]:
    """`user …` lines; nobody gets in without a name. `passwords`: by role."""
    lines = ["user default off"]
    lines += [f"user {role} on >{passwords[role]} resetchannels {allowed}" for role, allowed in _RULES.items()]
    return lines


USERS = tuple(_RULES)
"""Table workers have no business at Redis."""
