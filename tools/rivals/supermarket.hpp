// What the programs of this folder share: random numbers, time averages of s_k, arguments and the line they print.
//
// All of them simulate the supermarket model: N servers of rate 1, Poisson arrivals at rate 0.9 N, each job joins the
// shorter of two servers drawn with replacement. They start from the fixed point s_k = 0.9^(2^k - 1), so that every job
// costs what it costs in steady state.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr double LOAD = 0.9;

// xoshiro256++ (Blackman and Vigna 2021), seeded by splitmix64.
class Random {
public:
    explicit Random(uint64_t seed) {
        for (auto &word : state) {
            seed += 0x9e3779b97f4a7c15;
            uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            word = mixed ^ (mixed >> 31);
        }
    }

    uint64_t bits() {
        const uint64_t drawn = rotate(state[0] + state[3], 23) + state[0];
        const uint64_t shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = rotate(state[3], 45);
        return drawn;
    }

    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    static uint64_t rotate(uint64_t word, int by) { return word << by | word >> (64 - by); }
    std::array<uint64_t, 4> state;
};

// Exponential numbers of mean 1 by a ziggurat of 256 layers (Marsaglia and Tsang 2000).
class Exponential {
public:
    Exponential() {
        constexpr double TAIL = 7.69711747013104972, AREA = 0.0039496598225815571993;
        edge[0] = AREA / std::exp(-TAIL);
        edge[1] = TAIL;
        for (int layer = 2; layer < 256; layer++) edge[layer] = -std::log(AREA / edge[layer - 1] + std::exp(-edge[layer - 1]));
        edge[256] = 0.0;
        for (int layer = 0; layer <= 256; layer++) density[layer] = std::exp(-edge[layer]);
    }

    double operator()(Random &random) const {
        for (;;) {
            const uint64_t bits = random.bits();
            const int layer = bits & 255;
            const double x = static_cast<double>(bits >> 11) * 0x1p-53 * edge[layer];
            if (x < edge[layer + 1]) return x;
            if (layer == 0) return edge[1] - std::log(1.0 - random.uniform());
            if (density[layer + 1] + (density[layer] - density[layer + 1]) * random.uniform() < std::exp(-x)) return x;
        }
    }

private:
    double edge[257], density[257];
};

// Time averages of s_k, brought up to date only where a level changes. Time counts in `Time`: seconds or steps.
template <class Time> class Averages {
public:
    static constexpr int LEVELS = 64;

    void start(Time now) {
        opened = now;
        for (int k = 1; k < LEVELS; k++) area[k] = 0.0, since[k] = now;
    }
    void raise(int k, Time now) { advance(k, now), count[k]++; }
    void lower(int k, Time now) { advance(k, now), count[k]--; }

    void print(const char *name, uint64_t servers, uint64_t jobs, Time now, double response) {
        double little = 0.0;
        std::printf("%s %llu servers %llu jobs: s_k", name, (unsigned long long)servers, (unsigned long long)jobs);
        for (int k = 1; k <= 5; k++) {
            advance(k, now);
            std::printf(" %.5f", area[k] / static_cast<double>(now - opened) / static_cast<double>(servers));
        }
        // By Little's law, where delays are not kept.
        for (int k = 1; k < LEVELS && response <= 0.0; k++) {
            advance(k, now);
            little += area[k] / static_cast<double>(now - opened) / static_cast<double>(servers) / LOAD;
        }
        std::printf(", response %.6f", response > 0.0 ? response : little);
        std::printf("\n");
    }

    uint64_t count[LEVELS] = {};

private:
    void advance(int k, Time now) {
        area[k] += static_cast<double>(count[k]) * static_cast<double>(now - since[k]);
        since[k] = now;
    }
    double area[LEVELS] = {};
    Time since[LEVELS] = {}, opened = 0;
};

struct Arguments {
    uint64_t servers, jobs, warmup, seed;

    Arguments(int count, char **values) {
        if (count < 3) {
            std::fprintf(stderr, "usage: %s SERVERS JOBS [SEED]\n", values[0]);
            std::exit(2);
        }
        servers = std::strtoull(values[1], nullptr, 10);
        jobs = static_cast<uint64_t>(std::atof(values[2]));
        warmup = jobs / 10;
        seed = count > 3 ? std::strtoull(values[3], nullptr, 10) : 1;
    }

    // How many servers hold at least k jobs at the start.
    uint64_t at_least(int k) const {
        return static_cast<uint64_t>(std::llround(static_cast<double>(servers) * std::pow(LOAD, std::pow(2.0, k) - 1.0)));
    }
};
