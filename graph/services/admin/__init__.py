"""Looking after the whole: archives of everything that a store holds."""
