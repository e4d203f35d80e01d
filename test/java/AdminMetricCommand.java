// admin-metric: the sum of a metric over the connections of the Admin that admin commands share; used by the security suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;

/** args: {bootstrap, admin?, name}. Answers the number. */
public final class AdminMetricCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        String name = args.get("name").asText();
        return Clients.admin(args).metrics().entrySet().stream()
            .filter(metric -> metric.getKey().name().equals(name) && metric.getKey().group().equals("admin-client-metrics"))
            .mapToDouble(metric -> ((Number) metric.getValue().metricValue()).doubleValue())
            .sum();
    }
}
