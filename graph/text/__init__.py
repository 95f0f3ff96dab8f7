"""Words, stems, quotes, similarity and token counts, the same for every language and engine."""
