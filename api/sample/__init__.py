"""The sample story that a first start loads: a team, its chats, its documents and what is known from them."""
