"""What becomes of an open seek when its room's limits change."""

from lobby.matching.seek import BadSeek, Limits, Wish, normalise


def refit(wish: Wish, limits: Limits) -> Wish | None:
    """The normalised wish under other limits: as much of it as they still allow, so that every game it may lead
    to is one the player asked for. None if nothing of it is left."""
    givens = limits.givens if wish.givens is None else limits.givens.overlap(wish.givens)
    if givens is None:
        return None
    try:
        return normalise(Wish(wish.blocks, givens, wish.highlight, wish.rated, wish.rating), limits)
    except BadSeek:
        return None
