// alter-configs: sets and deletes configs of one resource incrementally; used by suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;

/** args: {bootstrap, type?: topic (default) | broker | ..., name, set?: {key: value}, delete?: [key]}. Answers true. */
public final class AlterConfigsCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        String type = args.path("type").asText("topic").toUpperCase(Locale.ROOT);
        ConfigResource resource = new ConfigResource(ConfigResource.Type.valueOf(type), args.get("name").asText());
        Collection<AlterConfigOp> operations = new ArrayList<>();
        args.path("set").fields().forEachRemaining(field -> operations.add(new AlterConfigOp(
            new ConfigEntry(field.getKey(), field.getValue().asText()), AlterConfigOp.OpType.SET)));
        args.path("delete").forEach(key -> operations.add(new AlterConfigOp(
            new ConfigEntry(key.asText(), ""), AlterConfigOp.OpType.DELETE)));
        Clients.admin(args).incrementalAlterConfigs(Map.of(resource, List.copyOf(operations))).all().get();
        return true;
    }
}
