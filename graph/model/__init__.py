"""Values every other part speaks of: ids, nodes, edges, tags, time, the schema declaration, errors."""
