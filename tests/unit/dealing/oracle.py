"""Another solver's opinion: the same field as a formula for a SAT solver, sharing no line with the dealer."""

from itertools import combinations

from pysat.solvers import Cadical153


def solutions(side: int, blocks: str, givens: str, most: int = 2) -> list[str]:
    """Solutions of the field, up to `most` of them."""
    cells, digits = range(side * side), range(1, side + 1)

    def holds(cell: int, digit: int) -> int:
        return cell * side + digit

    areas = [[cell for cell in cells if cell // side == row] for row in range(side)]
    areas += [[cell for cell in cells if cell % side == column] for column in range(side)]
    areas += [[cell for cell in cells if blocks[cell] == letter] for letter in sorted(set(blocks))]
    found: list[str] = []
    with Cadical153() as solver:
        for cell in cells:
            solver.add_clause([holds(cell, digit) for digit in digits])
            for one, two in combinations(digits, 2):
                solver.add_clause([-holds(cell, one), -holds(cell, two)])
        for area in areas:
            for digit in digits:
                solver.add_clause([holds(cell, digit) for cell in area])
                for first, second in combinations(area, 2):
                    solver.add_clause([-holds(first, digit), -holds(second, digit)])
        for cell, given in enumerate(givens):
            if given != ".":
                solver.add_clause([holds(cell, int(given))])
        while len(found) < most and solver.solve():
            true = {literal for literal in solver.get_model() if literal > 0}
            chosen = [next(digit for digit in digits if holds(cell, digit) in true) for cell in cells]
            found.append("".join(map(str, chosen)))
            solver.add_clause([-holds(cell, digit) for cell, digit in enumerate(chosen)])
    return found
