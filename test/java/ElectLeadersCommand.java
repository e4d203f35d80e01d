// elect-leaders: asks the controller for elections of one topic's partitions; used by suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ElectionNotNeededException;

/** args: {bootstrap, topic, type: preferred | unclean}. Answers how many leaders changed; the others led already. */
public final class ElectLeadersCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        String topic = args.get("topic").asText();
        var described = admin.describeTopics(Set.of(topic)).allTopicNames().get().get(topic);
        Set<TopicPartition> partitions = described.partitions().stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .collect(Collectors.toSet());
        ElectionType type = ElectionType.valueOf(args.get("type").asText().toUpperCase(Locale.ROOT));
        int changed = 0;
        for (var result : admin.electLeaders(type, partitions).partitions().get().values()) {
            if (result.isEmpty()) changed++;
            else if (!(result.get() instanceof ElectionNotNeededException)) throw new IllegalStateException(result.get());
        }
        return changed;
    }
}
