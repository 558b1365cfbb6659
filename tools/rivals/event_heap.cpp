// Event by event: a heap of departures, a time stamp for each job, response times measured at departures.
#include "supermarket.hpp"
#include <queue>

struct Departure {
    double time;
    uint32_t server;
    bool operator<(const Departure &other) const { return time > other.time; }
};

// First-come first-served queues of arrival times, in one pool of linked nodes.
class Queues {
public:
    explicit Queues(uint32_t servers) : length(servers, 0), head(servers, NONE), tail(servers, NONE) {}

    void push(uint32_t server, double arrived) {
        uint32_t node = spare;
        if (node == NONE) {
            node = static_cast<uint32_t>(pool.size());
            pool.push_back({});
        } else {
            spare = pool[node].next;
        }
        pool[node] = {arrived, NONE};
        (head[server] == NONE ? head[server] : pool[tail[server]].next) = node;
        tail[server] = node;
        length[server]++;
    }

    double pop(uint32_t server) {
        const uint32_t node = head[server];
        head[server] = pool[node].next;
        pool[node].next = spare;
        spare = node;
        length[server]--;
        return pool[node].arrived;
    }

    std::vector<uint32_t> length;

private:
    static constexpr uint32_t NONE = ~0u;
    struct Node {
        double arrived;
        uint32_t next;
    };
    std::vector<Node> pool;
    std::vector<uint32_t> head, tail;
    uint32_t spare = NONE;
};

int main(int count, char **values) {
    const Arguments arguments(count, values);
    const auto servers = static_cast<uint32_t>(arguments.servers);
    Random random(arguments.seed);
    const Exponential exponential;
    Queues queues(servers);
    std::priority_queue<Departure> departures;
    Averages<double> averages;
    for (int k = 1; k < 20; k++) {
        averages.count[k] = arguments.at_least(k);
        for (uint32_t server = 0; server < averages.count[k]; server++) {
            queues.push(server, -1.0);
            if (k == 1) departures.push({exponential(random), server});
        }
    }
    const double rate = LOAD * static_cast<double>(servers);
    double now = 0.0, opened = INFINITY, arrival = exponential(random) / rate, responses = 0.0;
    uint64_t arrived = 0, measured = 0;
    for (;;) {
        if (!departures.empty() && departures.top().time < arrival) {
            const Departure departure = departures.top();
            departures.pop();
            now = departure.time;
            averages.lower(static_cast<int>(queues.length[departure.server]), now);
            const double joined = queues.pop(departure.server);
            if (joined >= opened) responses += now - joined, measured++;
            if (queues.length[departure.server]) departures.push({now + exponential(random), departure.server});
            continue;
        }
        if (arrived == arguments.warmup) averages.start(now), opened = now;
        if (arrived++ == arguments.jobs) break;
        now = arrival;
        const uint64_t bits = random.bits();
        auto one = static_cast<uint32_t>((bits & 0xffffffff) * servers >> 32);
        const auto other = static_cast<uint32_t>((bits >> 32) * servers >> 32);
        if (queues.length[other] < queues.length[one]) one = other;
        queues.push(one, now);
        averages.raise(static_cast<int>(queues.length[one]), now);
        if (queues.length[one] == 1) departures.push({now + exponential(random), one});
        arrival = now + exponential(random) / rate;
    }
    averages.print("event_heap", servers, arguments.jobs, now, responses / static_cast<double>(measured));
}
