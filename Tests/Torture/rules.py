"""The promises of the README and the documentation on starts, versions and counts, as a model: `model` plays lives against it.

It is written from those pages alone, in another language than the library, and shares nothing with it.
"""

import re

GRAMMAR = re.compile(r"[0-9]+(\.[0-9]+)*(-[0-9]+)?")


def version(text):
    """The order of versions: the release without zeros at its end, then the sub-number, none first; None if unreadable."""
    if not GRAMMAR.fullmatch(text):
        return None
    release, _, sub = text.partition("-")
    parts = [int(part) for part in release.split(".")]
    if max(parts + [int(sub or 0)]) >= 1 << 64:
        return None
    while parts and parts[-1] == 0:
        parts.pop()
    return (tuple(parts), int(sub) if sub else -1)


ZERO = version("0")


def is_above(migration, app):
    """A sub-migration counts by its release, unless the app's own version has a sub-number."""
    if migration <= app:
        return False
    return not (migration[1] >= 0 and app[1] < 0 and migration[0] == app[0])


def is_on_line(known, hotfix):
    """True if a version begins with the components of a hotfix before its last one: 1.4.2 with those of 1.4.1, and 1.5 not."""
    line = hotfix[0][:-1]
    return (known[0] + (0,) * len(line))[:len(line)] == line


class Problem(Exception):
    def __init__(self, code):
        self.code = code


class State:
    """The state of one subsystem between starts."""

    def __init__(self, mark, app):
        self.last_run = self.baseline = mark
        self.launched = app
        # The app version that made it as a fresh install, until a start of that version got through.
        self.fresh = None
        self.history = []
        self.floor = ZERO
        # For each version whose closure saved one: the text and the app that saved it.
        self.cursors = {}
        # For each version that was begun and isn't recorded: starts of its closure, deaths of one app version.
        self.counts = {}

    def is_newer_than(self, app):
        """A start is told of it; it decides about no declaration."""
        return any(is_above(known, app) for known in (self.last_run, self.launched, self.floor))

    def is_begun_above(self, app):
        """A newer app has shut this one out, or begun a migration above it."""
        return is_above(self.floor, app) or any(is_above(begun, app) for begun in self.counts)

    def is_recorded_above(self, app):
        return is_above(self.last_run, app) or is_above(self.floor, app)

    def is_attempted_above(self, migration, app):
        """A newer app has begun this migration, whatever its number is."""
        return migration in self.counts and is_above(self.counts[migration][2], app)

    def has_run(self, migration, added_in):
        """For a migration that a hotfix brought late: whether it has run here, or its work is in the data already."""
        if self.is_made_with(migration, added_in):
            return True
        return migration not in self.counts and any(row[0] == migration for row in self.history)

    def is_made_with(self, migration, added_in):
        """The release that made the data has the migration: that of the main line, or one of the hotfix's own line."""
        if self.baseline >= added_in or self.baseline == migration:
            return True
        is_line_known = not is_on_line(added_in, migration)
        return self.baseline > migration and is_line_known and is_on_line(self.baseline, migration)

    def newest(self, app):
        release = max((self.last_run[0], -1), self.launched, (self.floor[0], -1))
        return release if release > app else max(self.last_run, self.floor)

    def pass_mark(self, mark):
        """What is known of versions that are passed over stays: a later release may declare them with `addedIn:`."""
        self.last_run = max(self.last_run, mark)
        self.counts.pop(mark, None)
        self.cursors.pop(mark, None)

    def launch(self, app):
        if app > self.launched:
            self.launched, self.fresh = app, None

    def raise_floor(self, floor, app):
        if not self.is_begun_above(app) and not self.is_recorded_above(app):
            self.floor = max(self.floor, floor)


class World:
    """One folder: the state, if there is one, and whether a closure under way holds its lock."""

    def __init__(self):
        self.state = None
        self.holder = None
        self.is_asked = False

    def lock(self):
        if self.holder is not None:
            raise Problem("lockTimeout")


class Manager:
    def __init__(self, world, text, first, limit):
        self.world = world
        self.limit = limit
        self.closed = None
        self.previous = ZERO
        self.whole = None
        app = version(text)
        if app is None:
            raise Problem("invalidVersion")
        self.app = app
        if world.state is None:
            self.make(first)
        else:
            state = world.state
            if state.is_newer_than(app):
                self.launch = ("downgrade", state.newest(app))
            else:
                self.launch = ("upgrade", state.launched) if app > state.launched else ("same",)
            # While a closure runs under the lock, this is left to the next start.
            if world.holder is None:
                state.launch(app)
        self.look()

    def make(self, first):
        self.world.is_asked = True
        if first == "throw":
            raise Problem("firstRunFailed")
        mark = {"fresh": self.app, "everything": ZERO}.get(first, version(first))
        if mark is None:
            raise Problem("invalidVersion")
        if is_above(mark, self.app):
            raise Problem("newerThanCurrentVersion")
        self.world.state = State(mark, self.app)
        if first == "fresh":
            self.world.state.fresh = self.app
        self.launch = ("first",)

    def release(self):
        """The manager goes: a first start that got through ends the fresh install, if the lock is free at once."""
        state = self.world.state
        if self.closed or self.previous == ZERO or not self.knows_fresh:
            return
        if state is not None and state.fresh == self.app and self.world.holder is None:
            state.fresh = None

    def look(self):
        state = self.world.state
        self.knows_fresh = state.fresh == self.app
        self.known = state.last_run
        self.known_floor = state.floor
        self.known_counts = dict(state.counts)
        self.known_baseline = state.baseline
        self.whole = None
        # What a newer app had begun when the manager looked refuses a declaration without another look.
        self.is_overtaken = state.is_begun_above(self.app)
        self.is_left_behind = state.is_recorded_above(self.app)
        self.leaves_floor = self.is_overtaken or self.is_left_behind

    def keep_whole(self):
        """What the manager knows of each version, from the first one on that it had to read the whole state for."""
        state = self.world.state
        self.whole = State(state.last_run, self.app)
        self.whole.baseline = state.baseline
        self.whole.history = list(state.history)
        self.whole.counts = dict(state.counts)

    def learn(self):
        """Takes over what others did, unless the next migration is to meet it, and to be refused."""
        state = self.world.state
        if state.last_run >= self.known and not state.is_recorded_above(self.app):
            self.look()

    def close(self, problem):
        if self.closed is None:
            self.closed = problem.code
        raise problem

    def existing(self):
        if self.world.state is None:
            raise Problem("stateUnreadable")
        return self.world.state

    def refuse(self, migration, previous, added_in=None):
        if migration <= previous:
            raise Problem("declaredOutOfOrder")
        if is_above(migration, self.app) or added_in and is_above(added_in, self.app):
            raise Problem("newerThanCurrentVersion")

    def refuse_changed(self, state, migration, is_late=False):
        """Refuses a state that a newer app has begun to change, or that others changed since the manager looked."""
        if (migration > state.last_run or is_late) and state.is_begun_above(self.app):
            raise Problem("usedByNewerApp")
        if migration <= state.last_run and state.is_recorded_above(self.app):
            raise Problem("usedByNewerApp")
        if is_late and state.is_attempted_above(migration, self.app):
            raise Problem("usedByNewerApp")
        if state.last_run < self.known:
            raise Problem("managerClosed")

    def refuse_deaths(self, state, migration):
        starts, deaths, app = state.counts.get(migration, (0, 0, None))
        if self.limit is not None and app == self.app and deaths >= max(1, self.limit):
            raise Problem("attemptLimitReached")

    def admit(self, text, floor_text="0", cursor=None, added_in_text=None):
        """True if the migration runs; a closed manager runs nothing, whatever it is asked."""
        migration, floor = version(text), version(floor_text)
        added_in = version(added_in_text) if added_in_text else None
        self.cursor = cursor
        if self.closed:
            raise Problem("managerClosed")
        try:
            is_asked = added_in and migration and self.known_baseline < added_in and migration <= self.known
            if is_asked and self.whole is None:
                self.existing()
                self.keep_whole()
            if migration is None or floor is None or added_in_text and added_in is None:
                raise Problem("invalidVersion")
            if added_in and added_in <= migration or floor > (added_in or migration):
                raise Problem("declaredOutOfOrder")
            self.refuse(migration, self.previous, added_in)
            has_run = True
            if added_in and self.whole is not None:
                has_run = self.whole.has_run(migration, added_in)
            self.previous = migration
            if migration <= self.known and has_run:
                if floor <= self.known_floor or self.leaves_floor:
                    return None
            elif self.is_overtaken or migration <= self.known and self.is_left_behind:
                raise Problem("usedByNewerApp")
            elif migration <= self.known and migration in self.known_counts and is_above(self.known_counts[migration][2], self.app):
                raise Problem("usedByNewerApp")
            self.world.lock()
            state = self.existing()
            has_run = state.has_run(migration, added_in) if added_in else True
            if migration <= self.known and has_run:
                state.raise_floor(floor, self.app)
                self.learn()
                return None
            is_late = migration <= state.last_run and not has_run
            self.refuse_changed(state, migration, is_late)
            self.begin(state, migration, floor, is_late)
        except Problem as problem:
            self.close(problem)
        return self.attempt

    def begin(self, state, migration, floor, is_late):
        self.attempt = None
        if migration <= state.last_run and not is_late:
            state.raise_floor(floor, self.app)
        else:
            if state.fresh == self.app and migration not in state.counts and not is_late:
                state.pass_mark(migration)
                state.baseline = migration
                state.raise_floor(floor, self.app)
            else:
                self.refuse_deaths(state, migration)
                starts, deaths, app = state.counts.get(migration, (0, 0, None))
                state.counts[migration] = (starts + 1, deaths if app == self.app else 0, self.app)
                state.launch(self.app)
                state.raise_floor(floor, self.app)
                self.attempt = (migration, starts + 1, state.last_run, state.cursors.get(migration))
                self.save(state, migration)
                self.world.holder = self
        self.look()

    def save(self, state, migration):
        """Deaths count from the last checkpoint on that says something else than where the attempt began."""
        if self.cursor is None:
            return
        if state.cursors.get(migration, (None,))[0] != self.cursor:
            starts, _, app = state.counts[migration]
            state.counts[migration] = (starts, 0, app)
        state.cursors[migration] = (self.cursor, self.app)

    def end(self, action):
        """The closure's end; gives what the declaration answers."""
        migration, attempt, before, _ = self.attempt
        state = self.world.state
        self.world.holder = None
        if action == "ok":
            state.pass_mark(migration)
            state.history.append((migration, before, self.app, attempt))
            self.look()
            return ("returned", "true")
        if action == "die":
            starts, deaths, app = state.counts[migration]
            state.counts[migration] = (starts, deaths + 1, app)
            return None
        code = {"throw": "migrationFailed", "cancel": "cancelled"}[action]
        self.closed = self.closed or code
        return ("error", code)

    def plan(self, texts):
        state = self.existing()
        rows, previous, refused = [], ZERO, False
        for text in texts:
            text, _, added_in_text = text.partition("!")
            migration, added_in = version(text), version(added_in_text) if added_in_text else None
            if migration is None or added_in_text and added_in is None:
                raise Problem("invalidVersion")
            try:
                kind = self.kind(state, migration, previous, added_in)
                code = None
            except Problem as problem:
                kind, code = "refused", problem.code
            if refused:
                kind, code = "refused", "managerClosed"
            refused = refused or kind == "refused"
            rows.append(("row", migration, kind, code or "-"))
            previous = max(previous, migration)
        return rows

    def kind(self, state, migration, previous, added_in):
        if added_in and added_in <= migration:
            raise Problem("declaredOutOfOrder")
        self.refuse(migration, previous, added_in)
        has_run = state.has_run(migration, added_in) if added_in else True
        is_late = migration <= state.last_run and not has_run
        if migration > self.known or not has_run:
            self.refuse_changed(state, migration, is_late)
            if migration > state.last_run or is_late:
                if state.fresh == self.app and migration not in state.counts and not is_late:
                    return "baseline"
                self.refuse_deaths(state, migration)
                return "willRun"
        if any(row[0] == migration for row in state.history):
            return "alreadyRun"
        return "baseline" if migration <= state.baseline else "missed"

    def reset(self, text):
        mark = version(text)
        if mark is None:
            raise Problem("invalidVersion")
        if is_above(mark, self.app):
            raise Problem("newerThanCurrentVersion")
        self.world.lock()
        state = self.existing()
        if is_above(state.floor, self.app):
            raise Problem("usedByNewerApp")
        state.last_run = state.baseline = mark
        state.launched, state.fresh = self.app, None
        # A row of a migration that ran on newer data than the mark goes with it.
        state.history = [row for row in state.history if row[0] <= mark and row[1] < mark]
        state.counts = {}
        state.cursors = {}
        self.whole = None
        self.look()
        self.previous, self.closed = ZERO, None

    def forget(self):
        if self.world.state is None:
            return
        self.world.lock()
        self.world.state = None
