"""The base class of views of the explorer with a form: the form, and the result of its input."""

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.report import Commands, Failed, Form, Note, Report, Section
from paimon_explore.inspection.rendering.result import Result


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormView(Result):
    """A form with the result of its input.

    Attributes:
        name: the table.
        form: the form.
        result: the result; None if there is none.
        commands: code that does what the result previews; None for none.
        problem: why there is no result.
        note: a remark above the result; empty for none.
    """

    name: str
    form: Form
    result: Result | None = None
    commands: Commands | None = None
    problem: Problem | None = None
    note: str = ""

    def to_arrow(self) -> pa.Table:
        """The rows of the result; none if there is none."""
        return pa.table({}) if self.result is None else self.result.to_arrow()

    def figures(self) -> dict[str, object]:
        """The figures of the result; none if there is none."""
        return {} if self.result is None else self.result.figures()

    def to_report(self) -> Report:
        """The form, the result, and the code."""
        sections: list[Section] = [self.form]
        if self.note:
            sections.append(Note(text=self.note))
        if self.problem is not None:
            sections.append(Failed(problem=self.problem))
        if self.result is None:
            title = f"{self.name}: {self.kind.replace('_', ' ')}"
            return Report(title=title, sections=tuple(sections))
        report = self.result.to_report()
        if self.commands is not None:
            sections.append(self.commands)
        return Report(title=report.title, sections=(*sections, *report.sections))
