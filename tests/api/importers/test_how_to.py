import re
from pathlib import Path

from api.importers.dates import Dates
from api.importers.json_lines import MessageLine, read_json_lines
from api.importers.model import ImportTally
from api.importers.read import Form

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "import.md").read_text()


def test_the_examples_of_the_page_can_be_read() -> None:
    block = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    lines = block[1].splitlines()
    dates = Dates(zone=None, tally=ImportTally())
    assert len(list(read_json_lines(lines, file="import.md", dates=dates))) == len(lines) == 3


def test_every_field_and_form_is_described() -> None:
    of_messages = PAGE[PAGE.index("## JSON Lines of messages") : PAGE.index("## Zones")]
    described = set(re.findall(r"^\| `(\w+)` \|", of_messages, re.MULTILINE))
    assert described == {field.alias for field in MessageLine.model_fields.values()}
    assert all(f"| `{form.value}` |" in PAGE for form in Form)
