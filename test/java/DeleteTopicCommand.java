// delete-topic: deletes one topic; used by suites to set scenes.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** args: {bootstrap, topic}. Answers true. */
public final class DeleteTopicCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Clients.admin(args).deleteTopics(List.of(args.get("topic").asText())).all().get();
        return true;
    }
}
