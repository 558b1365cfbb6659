#!/usr/bin/env python3
"""Runs the shares of an experiment on a Dask cluster and merges them.

    pip install dask distributed
    python tools/dask/sweep.py scenario.yaml results/sweep --shares 24 [--scheduler tcp://host:8786]

Without a scheduler, workers are started on this machine. The directory must be one that all workers see, and herdsim
must be on their PATH (or named with --herdsim).
"""

import argparse
import subprocess


def run_share(herdsim, scenario, directory, share, shares):
    # --resume lets a share whose worker died go on where it was.
    command = [herdsim, "run", scenario, "--output", directory, "--shard", f"{share}/{shares}", "--resume", "--quiet"]
    subprocess.run([*command, "--threads", "1"], check=True, capture_output=True, text=True)
    return share


def main():
    parser = argparse.ArgumentParser(description="Run a herdsim experiment on a Dask cluster.")
    parser.add_argument("scenario")
    parser.add_argument("directory")
    parser.add_argument("--shares", type=int, default=16)
    parser.add_argument("--scheduler")
    parser.add_argument("--herdsim", default="herdsim")
    options = parser.parse_args()

    from distributed import Client, as_completed

    client = Client(options.scheduler) if options.scheduler else Client(threads_per_worker=1)
    with client:
        place = (options.herdsim, options.scenario, options.directory)
        shares = range(1, options.shares + 1)
        futures = [client.submit(run_share, *place, share, options.shares, retries=2, pure=False) for share in shares]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            print(f"{done} of {options.shares} shares", flush=True)
    subprocess.run([options.herdsim, "merge", options.directory], check=True)


if __name__ == "__main__":
    main()
