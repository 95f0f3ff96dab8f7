setup:
	python3 -m venv .venv
	.venv/bin/python -m pip install -q -c constraints.txt -e '.[dev,documents]'
