"""The MCP transport: knowledge tools, run tools, confiding in a chat."""
