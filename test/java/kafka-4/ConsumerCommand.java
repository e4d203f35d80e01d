// consumer: one operation of a Java consumer that lives and polls between commands; used by the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** args: {id, op, ...}, see ConsumerSession for the operations; `open` {bootstrap, properties?} starts one. */
public final class ConsumerCommand implements Command {
    private static final Map<String, ConsumerSession> SESSIONS = new ConcurrentHashMap<>();

    @Override
    public Object run(JsonNode args) throws Exception {
        String id = args.get("id").asText();
        if (args.get("op").asText().equals("open")) {
            SESSIONS.put(id, new ConsumerSession(args));
            return "ok";
        }
        Object result = session(id).run(args);
        if (args.get("op").asText().equals("close")) SESSIONS.remove(id);
        return result;
    }

    static ConsumerSession session(String id) {
        ConsumerSession session = SESSIONS.get(id);
        if (session == null) throw new IllegalStateException("no consumer " + id);
        return session;
    }
}
