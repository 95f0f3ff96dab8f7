"""The operation list: one validator for people, agents and Dreaming.

`schema` reads the list, `planner` decides about it on a `state`, the files named after operations carry them out on
a working copy (`work`), the files named after rules refuse. All pure. Source: DR-42 to DR-75, KN-111.
"""
