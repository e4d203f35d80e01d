// create-partitions: grows a topic; used by suites to set scenes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.apache.kafka.clients.admin.NewPartitions;

/** args: {bootstrap, topic, count: partitions afterwards}. Answers true. */
public final class CreatePartitionsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        NewPartitions grown = NewPartitions.increaseTo(args.get("count").asInt());
        Clients.admin(args).createPartitions(Map.of(args.get("topic").asText(), grown)).all().get();
        return true;
    }
}
