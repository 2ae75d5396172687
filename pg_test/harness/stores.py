"""What the proxy keeps items in, and the arguments that name it."""

from pathlib import Path


class Postgres:
    """A database with the extension."""

    def __init__(self, conninfo):
        self.arguments = ["--postgres", conninfo]

    def beside(self):
        """For a second proxy at the same time: the same database."""
        return self


class Sqlite:
    """A file; one server at a time has it."""

    def __init__(self, file):
        self.file = Path(file)
        self.arguments = ["--data", str(file)]

    def beside(self):
        """For a second proxy at the same time: another file."""
        return Sqlite(self.file.with_name(f"beside-{self.file.name}"))


KINDS = ["postgres", "sqlite"]
