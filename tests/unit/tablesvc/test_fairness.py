"""Nobody gains by what he says, how often he says it, in what order, or through how many tabs."""

import asyncio
from random import Random

import pytest

from numbridge.errors import Rejected
from tablesvc.engine.decided import LAG_CREDIT_MS
from tablesvc.engine.seats import BLUE
from tablesvc.table import Table
from tablesvc.works import Accepted, Join, Outcome, Play, Work
from tablesvc.world import World
from tests.helpers.memory_tables import Cluster
from tests.helpers.tables import BLITZ, HandClock, act, ask, mover, others_turn, reason

MOVE_MS = BLITZ.move_ms


@pytest.fixture
async def seated(table: Table) -> Table:
    """Both have come; blue's clock runs."""
    for player in ("ada", "bob"):
        await ask(table, Join(player, None, arrive=True))
    return table


def bank(table: Table) -> int:
    """Blue's bank."""
    return table.state.banks[BLUE]


@pytest.mark.parametrize("lie", [-(2**31), -1, 501, 10_000, 2**31 - 1])
async def test_a_lie_about_lag_is_worth_no_more_than_the_cap(seated: Table, clock: HandClock, lie: int) -> None:
    clock.pass_(4_000)
    before = bank(seated)
    assert isinstance(await ask(seated, act(seated, "ada", "exchange", lag_ms=lie)), Accepted)
    credit = 4_000 - (before - bank(seated))
    assert credit == (LAG_CREDIT_MS if lie > 0 else 0)


async def test_lag_never_brings_a_turn_back_that_is_over(seated: Table, clock: HandClock) -> None:
    clock.pass_(MOVE_MS + LAG_CREDIT_MS)
    outcome = await ask(seated, act(seated, "ada", "exchange", lag_ms=60_000))
    assert reason(outcome) in ("stale", "not_your_turn")
    assert seated.state.to_move != BLUE


async def test_refused_actions_stop_no_clock(seated: Table, clock: HandClock) -> None:
    """Flooding a table with what is refused: the running turn began when it began."""
    began = seated.state.turn_started_at
    for number in range(200):
        clock.pass_(10)
        what = (
            act(seated, "ada", "claim", cell="z9", tile=1) if number % 2 else act(seated, "ada", "exchange", version=9)
        )
        assert isinstance(await ask(seated, what), Rejected)
    assert seated.state.turn_started_at == began
    before = bank(seated)
    assert isinstance(await ask(seated, act(seated, "ada", "exchange")), Accepted)
    assert before - bank(seated) == 2_000


async def test_going_and_coming_back_stops_no_clock(seated: Table, clock: HandClock) -> None:
    for _ in range(20):
        clock.pass_(500)
        await ask(seated, Join("ada", None, arrive=True))
        await ask(seated, Join("ada", 0, arrive=True))
    clock.pass_(MOVE_MS - 10_000)
    assert reason(await ask(seated, act(seated, "ada", "exchange"))) in ("stale", "not_your_turn")
    assert seated.state.to_move != BLUE, "the turn has burned, wherever its player was"


async def test_offers_stop_no_clock(seated: Table, clock: HandClock) -> None:
    began = seated.state.turn_started_at
    for action in ("offer_draw", "offer_adjourn", "offer_draw"):
        clock.pass_(1_000)
        await ask(seated, act(seated, "ada", action))
    assert seated.state.turn_started_at == began


@pytest.mark.parametrize("seed", range(5))
async def test_repeated_reordered_and_raced_actions_take_effect_once(
    seated: Table, cluster: Cluster, seed: int
) -> None:
    """1. Each player's three tabs send the same and other actions for the same version, some of them twice and late.
    2. All of it reaches the table at once, in any order.
    3. At most one takes effect for each version; each ref has one answer, whoever asks for it again."""
    random = Random(seed)
    answers: dict[tuple[str, str], set[int]] = {}
    late: list[Play] = []
    for turn in range(15):
        version = seated.state.version
        plays = [
            act(seated, player, random.choice(("exchange", "exchange", "pie")), ref=f"{player}{turn}.{tab}")
            for player in ("ada", "bob")
            for tab in range(3)
        ]
        plays += random.sample(late, min(len(late), 5)) + plays[:2]
        random.shuffle(plays)
        outcomes = await at_once(seated, plays)
        late += plays[:4]
        fresh = 0
        for play, outcome in zip(plays, outcomes, strict=True):
            if isinstance(outcome, Accepted):
                known = answers.setdefault((play.player, play.ref), set())
                fresh += not known
                known.add(outcome.version)
        assert fresh <= 1
        assert seated.state.version - version <= 2  # the action, and an end or a pass with it
    assert all(len(versions) == 1 for versions in answers.values())
    logged = [record.ref for record in cluster.of_game(seated.game) if record.ref]
    assert len(logged) == len(set(logged)) == len(answers)


async def at_once(table: Table, plays: list[Play]) -> list[Outcome]:
    """All of them in the mailbox before the first is judged."""
    outcomes: dict[int, Outcome] = {}
    for number, play in enumerate(plays):
        table.submit(Work(play, lambda outcome, number=number: outcomes.__setitem__(number, outcome)))  # type: ignore[misc]
    async with asyncio.timeout(10):
        while len(outcomes) < len(plays):
            await others_turn()
    return [outcomes[number] for number in range(len(plays))]


async def test_a_ref_of_one_player_is_nothing_to_the_other(seated: Table) -> None:
    first = mover(seated.state)
    second = "bob" if first == "ada" else "ada"
    accepted = await ask(seated, act(seated, first, "exchange", ref="r"))
    assert isinstance(accepted, Accepted)
    stolen = await ask(seated, act(seated, second, "exchange", ref="r"))
    assert isinstance(stolen, Accepted)
    assert stolen.version == accepted.version + 1, "an action of his own, not the other's answer"


async def test_a_full_mailbox_of_one_players_noise_delays_the_other_by_no_more_than_itself(
    seated: Table, world: World
) -> None:
    """What waits is bounded: a move behind it is judged after at most `mailbox_limit` refusals, or refused at once."""
    await ask(seated, act(seated, "ada", "exchange"))
    limit = world.settings.mailbox_limit
    noise = [act(seated, "ada", "exchange", version=0) for _ in range(limit - 1)]
    outcomes = await at_once(seated, [*noise, act(seated, "bob", "exchange")])
    assert isinstance(outcomes[-1], Accepted)
    assert not any(isinstance(outcome, Accepted) for outcome in outcomes[:-1])
