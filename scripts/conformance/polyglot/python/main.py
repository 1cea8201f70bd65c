"""Runs Python clients against the gateway, and prints a line of JSON for each case.

    python main.py GROUP...

Each group is a module of `clients`. The environment has the address of the gateway
(CONFORMANCE_ADDRESS), the kind of the upstream (CONFORMANCE_KIND), a key (CONFORMANCE_KEY), a key
whose budget is spent (CONFORMANCE_SPENT_KEY), the APIs to call, separated by commas
(CONFORMANCE_APIS), and the text that the upstream says (CONFORMANCE_TEXT).
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import warnings

from cases import applies, cases, describe, run_case, scenarios
from target import Client, Target

address = os.environ["CONFORMANCE_ADDRESS"]
kind = os.environ["CONFORMANCE_KIND"]
keys = {"401": "sk-wrong", "402": os.environ["CONFORMANCE_SPENT_KEY"]}


def main(groups: list[str]) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    apis = os.environ["CONFORMANCE_APIS"].split(",")
    for group in groups:
        clients: list[Client] = importlib.import_module(f"clients.{group}").clients
        for client in clients:
            if client.api in apis:
                for case in cases:
                    if applies(client, case, kind):
                        run(client, case)


def run(client: Client, case: str) -> None:
    target = Target(
        address=f"{address}/{client.name}:{client.api}:{kind}:{case}",
        key=keys.get(case, os.environ["CONFORMANCE_KEY"]),
        model=f"{kind}--{scenarios[case]}",
    )
    try:
        ok, detail = True, run_case(client, case, target)
    except Exception as error:
        ok, detail = False, describe(error)
    result = {
        "client": client.name,
        "version": client.version,
        "api": client.api,
        "kind": kind,
        "case": case,
        "ok": ok,
        "detail": detail,
    }
    print(json.dumps(result), flush=True)


main(sys.argv[1:])
