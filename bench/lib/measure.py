"""Runs one command and writes what it cost as a line of JSON to the file named first.

Wall time is taken around spawn and wait; the rest is what the kernel counted for the command and its descendants that
were waited for. `max_rss` is that of the largest single process. The kernel counts the spawning process's own pages
until exec, so nothing below about 9 MB can be told apart.
"""
import json
import os
import sys
import time

report, log, command = sys.argv[1], sys.argv[2], sys.argv[3:]
output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
actions = [
    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
    (os.POSIX_SPAWN_DUP2, output, 1),
    (os.POSIX_SPAWN_DUP2, output, 2),
]
start = time.perf_counter()
child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - start
with open(report, "w", encoding="utf-8") as file:
    json.dump(
        {
            "status": os.waitstatus_to_exitcode(status),
            "wall": wall,
            "user": usage.ru_utime,
            "system": usage.ru_stime,
            "maxRss": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
            "voluntarySwitches": usage.ru_nvcsw,
            "involuntarySwitches": usage.ru_nivcsw,
        },
        file,
    )
