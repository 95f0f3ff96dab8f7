"""The web console: its built files, served under a strict policy. It knows nothing of what the console asks for."""
