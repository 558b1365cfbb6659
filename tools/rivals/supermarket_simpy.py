#!/usr/bin/env python3
"""The supermarket model in SimPy, one resource per server: python3 supermarket_simpy.py SERVERS JOBS [SEED] (pip install simpy)."""

import random
import sys

import simpy

LOAD = 0.9


def run(servers, jobs, seed=1):
    """Mean response time of the last nine tenths of the jobs."""
    draw = random.Random(seed)
    env = simpy.Environment()
    queues = [simpy.Resource(env) for _ in range(servers)]
    responses = []

    def length(server):
        return len(queues[server].queue) + queues[server].count

    def job(number):
        arrived = env.now
        one, other = draw.randrange(servers), draw.randrange(servers)
        server = other if length(other) < length(one) else one
        with queues[server].request() as turn:
            yield turn
            yield env.timeout(draw.expovariate(1.0))
        if number >= jobs // 10:
            responses.append(env.now - arrived)

    def arrivals():
        for number in range(jobs):
            yield env.timeout(draw.expovariate(LOAD * servers))
            env.process(job(number))

    env.process(arrivals())
    env.run()
    return sum(responses) / len(responses)


if __name__ == "__main__":
    servers, jobs = int(sys.argv[1]), int(float(sys.argv[2]))
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    print(f"simpy {servers} servers {jobs} jobs: response {run(servers, jobs, seed):.6f}")
