"""Runs a WASI command under wasmtime: wasmtime-host.py '{"module", "compiled", "preopens", "words", "readOnly"}'

The machine code is kept in the file `compiled`, since making it takes seconds.
"""

import json
import os
import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

task = json.loads(sys.argv[1])
engine = Engine()
if not os.path.exists(task["compiled"]):
    with open(task["compiled"] + ".new", "wb") as file:
        file.write(Module.from_file(engine, task["module"]).serialize())
    os.replace(task["compiled"] + ".new", task["compiled"])
linker = Linker(engine)
linker.define_wasi()
wasi = WasiConfig()
wasi.argv = ["gantry.wasm", *task["words"]]
wasi.inherit_stdout()
wasi.inherit_stderr()
for name, folder in task["preopens"].items():
    wasi.preopen_dir(folder, name, name not in task["readOnly"])
store = Store(engine)
store.set_wasi(wasi)
instance = linker.instantiate(store, Module.deserialize_file(engine, task["compiled"]))
try:
    instance.exports(store)["_start"](store)
except ExitTrap as end:
    sys.exit(end.code)
