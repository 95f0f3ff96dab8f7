"""`memorySearch` and `memoryBrowse`: routes, fusion, decay, rerank, expansion and packing over what one may read."""
