"""A naive model of knowledge with restore, kept as nested dicts, to compare the law of restore with.

Unlike `graph.rules.restore` it holds blocks inside their entries, changes itself in place, knows no plan, and decides
by looking around everywhere. Source: KN-92 to KN-102.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterable
from typing import Any

from graph.model.time import Millis
from graph.rules import images
from graph.rules.audit_chain import GENESIS, AuditDraft, SealedAudit
from graph.rules.images import Image
from tests.support.audit_chains import make_chain, make_draft

NAMES = ("Lin", "lin ", "Atlas", "Helio", "Orion", "Orion  Ltd", "Wren")
POOL = "knb_1"
ENDED = "1970-01-01T00:00:03.000Z"


def plain(value: Any) -> str:
    """Return JSON text in which missing and null are the same."""
    return json.dumps(_strip(value), sort_keys=True)


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strip(item) for key, item in value.items() if item is not None}
    return [_strip(item) for item in value] if isinstance(value, list | tuple) else value


def key_of(name: str) -> str:
    return " ".join(name.casefold().split())


class Book:
    """Live entries (`fields`, `blocks` by id) and current relations, with the audit of all changes so far."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.relations: dict[str, Image] = {}
        self.history: list[SealedAudit] = []
        self.made = 0

    def copy(self) -> Book:
        return copy.deepcopy(self)

    # What the law is told

    def state(self) -> dict[str, Image | None]:
        flat: dict[str, Image | None] = dict(self.relations)
        for entry, held in self.entries.items():
            flat[entry] = held["fields"]
            flat.update({block: {**image, "entryId": entry} for block, image in held["blocks"].items()})
        return copy.deepcopy(flat)

    def names(self) -> dict[tuple[str, str], str]:
        return {(POOL, key_of(held["fields"]["name"])): entry for entry, held in self.entries.items()}

    def namesakes(self, target: str, name: str | None) -> list[str]:
        held = {entry: key_of(held["fields"]["name"]) for entry, held in self.entries.items() if entry != target}
        return [entry for entry, key in held.items() if name is not None and key == key_of(name)]

    # Changes

    def record(self, draft: AuditDraft) -> SealedAudit:
        head = self.history[-1].head if self.history else GENESIS
        self.history += make_chain([draft], pool=POOL, head=head)
        return self.history[-1]

    def audit(self, operation: str, target: str, before: Any, after: Any) -> None:
        kinds = {"ent": "Entry", "blk": "Block", "rel": "Relation"}
        draft = make_draft(operation, target, before=before, after=after, target_kind=kinds[target[:3]])
        self.record(copy.deepcopy(draft))
        self.put(draft, after)

    def new_id(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}_{self.made}"

    def change(self, rng: random.Random) -> None:
        """Make one random change that the rules of knowledge allow; none if the chosen one does not fit."""
        changes: list[Callable[[random.Random], None]] = [
            self.create_entry,
            self.edit_entry,
            self.edit_entry,
            self.delete_entry,
            self.create_block,
            self.edit_block,
            self.edit_block,
            self.delete_block,
            self.add_relation,
            self.add_relation,
            self.edit_relation,
        ]
        rng.choice(changes)(rng)

    def free_name(self, rng: random.Random) -> str | None:
        taken = {key for _, key in self.names()}
        free = [name for name in NAMES if key_of(name) not in taken]
        return rng.choice(free) if free else None

    def create_entry(self, rng: random.Random) -> None:
        name = self.free_name(rng)
        if name:
            entry = self.new_id("ent")
            fields = images.entry_fields(name=images.name_fields(name), type="person")
            blocks = {self.new_id("blk"): self.some_block(rng, entry) for _ in range(rng.randrange(3))}
            self.audit("entry.create", entry, None, images.whole_entry(fields, blocks=blocks))

    def edit_entry(self, rng: random.Random) -> None:
        if not self.entries:
            return
        entry = rng.choice(sorted(self.entries))
        fields, name = self.entries[entry]["fields"], self.free_name(rng)
        key = f"attributes.k{rng.randrange(3)}"
        afters: list[tuple[str, Image]] = [
            ("entry.set_type", {"type": rng.choice(["person", "project", "place"])}),
            ("entry.set_summary", images.summary_fields(rng.choice(["", "short", "long"]))),
            ("entry.set_attributes", {key: rng.choice([None, images.attribute_value(rng.choice([1, True, "x"]))])}),
            ("entry.set_aliases", images.aliases_fields([(rng.choice("abc"), images.support())])),
        ]
        if name:
            alias = [*fields["aliases"], {"alias": fields["name"], **images.support()}]
            afters.append(("entry.rename", {**images.name_fields(name), "aliases": alias}))
        operation, after = rng.choice(afters)
        self.audit(operation, entry, {key: fields.get(key) for key in after}, after)

    def delete_entry(self, rng: random.Random) -> None:
        if self.entries and rng.random() < 0.6:
            entry = rng.choice(sorted(self.entries))
            self.audit("entry.delete", entry, self.tree(entry), None)

    def some_block(self, rng: random.Random, entry: str) -> Image:
        place = images.block_place(entry_id=entry, position=rng.randrange(9))
        return images.block_image(rng.choice("uvwxyz"), basis="stated", standing="settled", place=place)

    def create_block(self, rng: random.Random) -> None:
        if self.entries:
            entry = rng.choice(sorted(self.entries))
            self.audit("block.create", self.new_id("blk"), None, self.some_block(rng, entry))

    def edit_block(self, rng: random.Random) -> None:
        places = [(entry, block) for entry, held in self.entries.items() for block in held["blocks"]]
        if not places:
            return
        entry, block = rng.choice(sorted(places))
        before = {**self.entries[entry]["blocks"][block], "entryId": entry}
        if rng.random() < 0.3:
            after = images.block_place(entry_id=rng.choice(sorted(self.entries)), position=rng.randrange(9))
            self.audit("block.move", block, {key: before[key] for key in after}, after)
        else:
            after = {"text": rng.choice("uvwxyz"), "standing": rng.choice(["settled", "disputed"])}
            self.audit("block.edit", block, {key: before[key] for key in after}, after)

    def delete_block(self, rng: random.Random) -> None:
        places = [(entry, block) for entry, held in self.entries.items() for block in held["blocks"]]
        if places:
            entry, block = rng.choice(sorted(places))
            self.audit("block.delete", block, {**self.entries[entry]["blocks"][block], "entryId": entry}, None)

    def add_relation(self, rng: random.Random) -> None:
        if len(self.entries) > 1:
            subject, object_ = rng.sample(sorted(self.entries), 2)
            valid = images.validity_fields(valid_from=rng.choice([None, Millis(0), Millis(3000)]))
            image = images.relation_image(subject_id=subject, type="knows", object_id=object_, validity=valid)
            if not self.rivals("", image):
                self.audit("relation.add", self.new_id("rel"), None, image)

    def edit_relation(self, rng: random.Random) -> None:
        if not self.relations:
            return
        relation = rng.choice(sorted(self.relations))
        image = self.relations[relation]
        kind = rng.randrange(3)
        if kind == 0:
            self.audit("relation.remove", relation, image, None)
        elif kind == 1 and (image["validFrom"] or "") < ENDED:
            validity = {key: image[key] for key in images.validity_fields()}
            self.audit("relation.remove", relation, validity, {**validity, "validTo": ENDED})
        else:
            quote = images.citation(f"src_{rng.randrange(3)}", "quote", start=0, end=5)
            evidence = images.evidence_fields([*image["evidence"], quote])
            self.audit("relation.add_evidence", relation, {"evidence": image["evidence"]}, evidence)

    # Looking and putting

    def rivals(self, relation: str, image: Image) -> list[str]:
        def meets(other: Image) -> bool:
            begin = max(image["validFrom"] or "", other["validFrom"] or "")
            end = min(image["validTo"] or "~", other["validTo"] or "~")
            return begin < end

        keys = ("subjectId", "type", "objectId")
        equal = {k: o for k, o in self.relations.items() if all(o[key] == image[key] for key in keys)}
        return [key for key, other in equal.items() if key != relation and meets(other)]

    def tree(self, entry: str) -> Image:
        held = self.entries[entry]
        blocks = {block: {**image, "entryId": entry} for block, image in held["blocks"].items()}
        relations = {k: r for k, r in self.relations.items() if entry in (r["subjectId"], r["objectId"])}
        return copy.deepcopy(images.whole_entry(held["fields"], blocks=blocks, relations=relations))

    def whole(self, target: str) -> Image | None:
        if target in self.entries:
            return self.tree(target)
        for entry, held in self.entries.items():
            if target in held["blocks"]:
                return {**held["blocks"][target], "entryId": entry}
        return self.relations.get(target)

    def put(self, draft: AuditDraft, image: Image | None) -> None:
        """Make the target what `image` says; an edit changes the fields it names."""
        target, image = draft.target_id, copy.deepcopy(image)
        if image is not None and draft.before is not None and draft.after is not None:
            present = self.whole(target)
            image = None if present is None else {**present, **image}
        for held in self.entries.values():
            held["blocks"].pop(target, None)
        self.relations.pop(target, None)
        if self.entries.pop(target, None):
            gone = [k for k, r in self.relations.items() if target in (r["subjectId"], r["objectId"])]
            for relation in gone:
                del self.relations[relation]
        if image is None:
            return
        if "blocks" in image:
            blocks, relations = image.pop("blocks"), image.pop("relations")
            for block in blocks.values():
                del block["entryId"]
            self.entries[target] = {"fields": image, "blocks": blocks}
            self.relations.update(relations)
        elif "entryId" in image:
            entry = image.pop("entryId")
            if entry in self.entries:
                self.entries[entry]["blocks"][target] = image
        else:
            self.relations[target] = image

    # Restore, the naive way

    def undo(self, record: SealedAudit) -> dict[str, Any]:
        """Undo one record, in conflict or not, and tell what a step of a preview should have said."""
        draft, target = record.draft, record.draft.target_id
        present, restored = self.whole(target), copy.deepcopy(draft.before)
        edit = draft.before is not None and draft.after is not None
        if edit and present is not None:
            present = {key: present.get(key) for key in draft.after}
        omitted = []
        if restored is not None and "relations" in restored:
            for key, relation in sorted(restored["relations"].items()):
                other = ({relation["subjectId"], relation["objectId"]} - {target}).pop()
                if other not in self.entries or self.rivals(key, relation):
                    omitted.append(key)
                    del restored["relations"][key]
        room, taken = True, None
        if restored is not None:
            full = {**(self.whole(target) or {}), **restored}
            room = all(restored[key] in self.entries for key in ("entryId", "subjectId", "objectId") if key in restored)
            room = room and not ("subjectId" in full and self.rivals(target, full))
            inside = [target, *restored.get("blocks", ()), *restored.get("relations", ())]
            room = room and (edit or all(self.whole(key) is None for key in inside))
            taken = min(self.namesakes(target, restored.get("name")), default=None)
        if room:
            self.put(draft, restored)
        return {
            "record": record.id,
            "current": present,
            "restored": restored,
            "conflict": not room or plain(present) != plain(draft.after),
            "omitted": omitted,
            "taken": taken,
        }

    def undo_all(self, batch: Iterable[SealedAudit]) -> list[dict[str, Any]]:
        ordered = sorted({record.id: record for record in batch}.values(), key=lambda record: -record.seq)
        return [self.undo(record) for record in ordered]
