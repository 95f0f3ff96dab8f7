"""Language models behind one port: providers, scripted and recorded ones, and wrappers that each change one thing."""
