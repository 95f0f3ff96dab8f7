"""The node kinds, one file a subject; `graph.model.schema` lists them all."""
