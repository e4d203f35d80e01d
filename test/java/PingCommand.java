// ping: answers its args, and says which Java and Kafka run; for the driver's own test.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.apache.kafka.common.utils.AppInfoParser;

/** args: anything. */
public final class PingCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        return Map.of("echo", args, "java", Runtime.version().feature(), "kafka", AppInfoParser.getVersion());
    }
}
