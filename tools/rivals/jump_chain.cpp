// The uniformised jump chain: queue lengths in 32-bit cells, time counted in steps, averages of s_k only.
#include "supermarket.hpp"

int main(int count, char **values) {
    const Arguments arguments(count, values);
    const uint64_t servers = arguments.servers;
    Random random(arguments.seed);
    std::vector<uint32_t> length(servers, 0);
    Averages<uint64_t> averages;
    for (int k = 1; k < 20; k++) {
        averages.count[k] = arguments.at_least(k);
        for (uint64_t server = 0; server < averages.count[k]; server++) length[server]++;
    }
    // Each server has the weight 2^12, arrivals have 0.9 of all that.
    const uint64_t services = servers << 12;
    const auto total = static_cast<uint64_t>((1.0 + LOAD) * static_cast<double>(services));
    uint64_t step = 0, arrived = 0;
    averages.start(0);
    while (arrived < arguments.jobs) {
        const auto drawn = static_cast<uint64_t>(static_cast<unsigned __int128>(random.bits()) * total >> 64);
        step++;
        if (drawn < services) {
            uint32_t &jobs = length[drawn >> 12];
            if (jobs > 0) averages.lower(static_cast<int>(jobs), step), jobs--;
        } else {
            const uint64_t bits = random.bits();
            uint64_t one = (bits & 0xffffffff) * servers >> 32;
            const uint64_t other = (bits >> 32) * servers >> 32;
            if (length[other] < length[one]) one = other;
            averages.raise(static_cast<int>(++length[one]), step);
            if (++arrived == arguments.warmup) averages.start(step);
        }
    }
    averages.print("jump_chain", servers, arguments.jobs, step, 0.0);
}
