"""Restoring lessons, memos and guides: what they said before is their next version. Source: KN-94, KN-104."""

from __future__ import annotations

from dataclasses import replace

from graph.model.ids import NodeId
from graph.rules.operations.memo import check_budget, put_lines
from graph.rules.operations.skills import check_room, end_lesson, put_lesson
from graph.rules.restore_past import support_of_image
from graph.rules.restore_step import Step


class LearningStep(Step):
    """A step on a lesson, a memo or a guide."""

    def lesson(self) -> None:
        """End what a lesson says now, and let it say what it said before as its next version."""
        current = self.work.lessons.get(self.target)
        last = current.lesson if current else self.past.lessons[self.target]
        if current is not None:
            end_lesson(self.work, current)
        restored = self.step.restored
        if restored is not None:
            overlay, rests_on = NodeId(restored["overlayId"]), support_of_image(restored)
            made = put_lesson(self.work, overlay, restored["text"], restored["origin"], rests_on, before=last)
            check_room(self.work, overlay)
            last = made.lesson
        self.past.lessons[self.target] = last

    def memo(self) -> None:
        """Write the lines of a memo again; a memo that was not there yet becomes empty."""
        lines = [(line["text"], support_of_image(line)) for line in (self.step.restored or {}).get("lines", ())]
        check_budget(self.work, [text for text, _ in lines])
        put_lines(self.work, self.work.memo, lines)

    def guide(self) -> None:
        """Write the text of a guide again; a guide that was not there yet becomes empty."""
        guide = self.past.guides[self.target]
        changed = replace(guide, text=(self.step.restored or {}).get("text", ""), version=guide.version + 1)
        self.past.guides[self.target] = changed
        self.work.changes.patch(
            guide.id,
            text=changed.text,
            version=changed.version,
            modifier_id=self.work.actor.id,
            updated_at=self.work.at,
        )
