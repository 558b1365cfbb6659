// The chain on counts: how many servers hold at least k jobs, and nothing per server. A server is a rank by length, the
// longest being 0; of two ranks the larger is the shorter queue.
#include "supermarket.hpp"

int main(int count, char **values) {
    const Arguments arguments(count, values);
    const uint64_t servers = arguments.servers;
    Random random(arguments.seed);
    Averages<uint64_t> averages;
    for (int k = 1; k < 20; k++) averages.count[k] = arguments.at_least(k);
    const uint64_t services = servers << 12;
    const auto total = static_cast<uint64_t>((1.0 + LOAD) * static_cast<double>(services));
    uint64_t step = 0, arrived = 0;
    // Eight levels are compared at once, in which the compiler finds vector code; longer queues are rare.
    const auto length = [&](uint64_t rank) {
        int longer = 0;
        for (int k = 1; k <= 8; k++) longer += averages.count[k] > rank;
        if (longer == 8) while (averages.count[longer + 1] > rank) longer++;
        return longer;
    };
    averages.start(0);
    while (arrived < arguments.jobs) {
        const auto drawn = static_cast<uint64_t>(static_cast<unsigned __int128>(random.bits()) * total >> 64);
        step++;
        if (drawn < services) {
            const int jobs = length(drawn >> 12);
            if (jobs > 0) averages.lower(jobs, step);
        } else {
            const uint64_t bits = random.bits();
            const uint64_t one = (bits & 0xffffffff) * servers >> 32, other = (bits >> 32) * servers >> 32;
            averages.raise(length(one > other ? one : other) + 1, step);
            if (++arrived == arguments.warmup) averages.start(step);
        }
    }
    averages.print("count_chain", servers, arguments.jobs, step, 0.0);
}
