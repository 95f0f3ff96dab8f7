"""Tools of the house: what `make requirements`, `make docs`, `make schema` and `make check` run."""
