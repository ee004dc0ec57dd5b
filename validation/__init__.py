"""How near the planner comes to published measurements: committed rows, the table, the gate and the list of misses."""
