"""Drawing tiles: evenly, from a bag that is counted by digit."""

from tablesvc.engine.dice import Dice


def draw(bag: list[int], count: int, dice: Dice) -> tuple[int, ...]:
    """Takes `count` tiles out of `bag` (`bag[digit]` is how many), one after another, and returns them in order.

    The bag must hold that many. The same as taking from the top of a bag shuffled beforehand.
    """
    left = sum(bag)
    drawn = []
    for _ in range(count):
        place = dice.below(left)
        digit = 0
        while place >= bag[digit]:
            place -= bag[digit]
            digit += 1
        bag[digit] -= 1
        left -= 1
        drawn.append(digit)
    return tuple(drawn)
