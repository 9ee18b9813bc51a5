"""Several actors on one storage, one operation at a time, in an order that is chosen.

Each actor is a thread that waits for the baton before every operation of its storage. So a run is
decided by the list of choices, one per operation, and can be repeated.
"""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Actor = Callable[[Callable[[str], None]], None]
"""Does its work, and calls the given function before each operation."""
Pick = Callable[[int, Sequence[int], int | None], int]
"""Which actor goes on: by the number of the operation, the actors that can, and who went before."""

_PATIENCE = 60


class DeadlockError(Exception):
    """An actor did not come back."""


@dataclass(slots=True)
class _Seat:
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    is_over: bool = False
    error: BaseException | None = None


class Schedule:
    """One run of some actors.

    Args:
        actors: what they do.
        pick: who goes on.

    Attributes:
        choices: who went on, operation by operation, with those that could have.
        log: the operations, each with its actor.
    """

    def __init__(self, actors: Sequence[Actor], pick: Pick) -> None:
        self.choices: list[tuple[int, tuple[int, ...]]] = []
        self.log: list[str] = []
        self._actors = actors
        self._pick = pick
        self._seats = [_Seat() for _ in actors]
        self._back = threading.Semaphore(0)

    def run(self) -> list[BaseException | None]:
        """Run all to the end; the error of each."""
        threads = [threading.Thread(target=self._act, args=(i,)) for i in range(len(self._seats))]
        for thread in threads:
            thread.start()
            self._await()
        before: int | None = None
        while able := [i for i, seat in enumerate(self._seats) if not seat.is_over]:
            before = self._pick(len(self.choices), able, before)
            self.choices.append((before, tuple(able)))
            self._seats[before].go.release()
            self._await()
        for thread in threads:
            thread.join(_PATIENCE)
        return [seat.error for seat in self._seats]

    def _await(self) -> None:
        if not self._back.acquire(timeout=_PATIENCE):
            raise DeadlockError(self.log[-20:])

    def _act(self, number: int) -> None:
        seat = self._seats[number]

        def wait(operation: str) -> None:
            self._back.release()
            if not seat.go.acquire(timeout=2 * _PATIENCE):
                raise DeadlockError(operation)
            self.log.append(f"{number}: {operation}")

        try:
            wait("begin")
            self._actors[number](wait)
        except BaseException as error:  # noqa: BLE001 - told by `run`
            seat.error = error
        seat.is_over = True
        self._back.release()


def at_random(seed: int) -> Pick:
    """Switch now and then."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    eagerness = chance.choice([0.05, 0.2, 0.5])

    def pick(_: int, able: Sequence[int], before: int | None) -> int:
        stays = before is not None and before in able and chance.random() > eagerness
        return before if stays and before is not None else chance.choice(list(able))

    return pick
