#!/usr/bin/env python3
"""The supermarket model in Ciw, one node per server: python3 supermarket_ciw.py SERVERS JOBS [SEED] (pip install ciw)."""

import random
import sys

import ciw

LOAD = 0.9


class ShorterOfTwo(ciw.routing.NodeRouting):
    """Sends a job from the door to the shorter of two nodes drawn with replacement."""

    def next_node(self, ind):
        nodes = self.simulation.transitive_nodes[1:]
        one, other = random.choice(nodes), random.choice(nodes)
        return other if other.number_of_individuals < one.number_of_individuals else one


def run(servers, jobs, seed=1):
    """Mean response time of the jobs that left."""
    ciw.seed(seed)
    door = ciw.dists.Deterministic(0.0)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(LOAD * servers)] + [None] * servers,
        service_distributions=[door] + [ciw.dists.Exponential(1.0)] * servers,
        number_of_servers=[float("inf")] + [1] * servers,
        routing=ciw.routing.NetworkRouting([ShorterOfTwo()] + [ciw.routing.Leave()] * servers),
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(jobs, method="Finish")
    records = [record for record in simulation.get_all_records() if record.node > 1]
    return sum(record.exit_date - record.arrival_date for record in records) / len(records)


if __name__ == "__main__":
    servers, jobs = int(sys.argv[1]), int(float(sys.argv[2]))
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    print(f"ciw {servers} servers {jobs} jobs: response {run(servers, jobs, seed):.6f}")
