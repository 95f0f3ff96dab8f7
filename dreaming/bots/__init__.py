"""The Memory Bot of a bot: it answers confides, rewrites inputs and learns. Source: BM-65 to BM-135."""
