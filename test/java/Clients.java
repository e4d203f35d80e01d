// Kafka clients that the driver's commands share: one Admin per cluster, and producers whose transaction stays open.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;

/** They live as long as the driver. */
final class Clients {
    private static final Map<String, Admin> ADMINS = new ConcurrentHashMap<>();

    /** Producers that `produce` left in an open transaction, by transactional id; `end-transaction` takes them. */
    static final Map<String, KafkaProducer<byte[], byte[]>> OPEN = new ConcurrentHashMap<>();

    private Clients() {}

    /** The Admin for args.bootstrap and, if there are any, args.admin: properties of its own, such as a login. */
    static Admin admin(JsonNode args) {
        String bootstrap = args.get("bootstrap").asText();
        return ADMINS.computeIfAbsent(bootstrap + args.path("admin"), key -> {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", bootstrap);
            properties.put("default.api.timeout.ms", "60000");
            properties.put("request.timeout.ms", "30000");
            args.path("admin").fields().forEachRemaining(field -> properties.put(field.getKey(), field.getValue().asText()));
            return Admin.create(properties);
        });
    }

    /**
     * Later commands get a new Admin for args.bootstrap: one that saw its brokers die may go on asking a dead connection until
     * it times out, again and again. What still runs on the old one may end.
     */
    static void forgetAdmin(JsonNode args) {
        Admin forgotten = args.has("bootstrap") ? ADMINS.remove(args.get("bootstrap").asText() + args.path("admin")) : null;
        if (forgotten != null) new Thread(() -> forgotten.close(Duration.ofSeconds(30)), "closing").start();
    }

    /** Properties with bootstrap.servers, byte arrays as keys and values, and args.properties over them. */
    static Properties properties(JsonNode args, Map<String, String> defaults) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args.get("bootstrap").asText());
        for (String side : new String[] {"key", "value"}) {
            properties.put(side + ".serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            properties.put(side + ".deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        }
        properties.putAll(defaults);
        args.path("properties").fields().forEachRemaining(field -> properties.put(field.getKey(), field.getValue().asText()));
        return properties;
    }
}
