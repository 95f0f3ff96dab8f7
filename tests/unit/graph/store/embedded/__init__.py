"""What only the embedded store has: plans, ownership, faults of the disk, migrations."""
