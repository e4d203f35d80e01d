// encode-messages: JSON → bytes with Kafka's own generated messages and JSON converters; the oracle of the protocol suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;

/** args: {items: [{message, version, value}]}; answers the encodings in base64, in order, or "error: ..." for a value Java refuses. */
public final class EncodeMessagesCommand implements Command {
    private static final List<String> PACKAGES = List.of(
        "org.apache.kafka.common.message.",
        "org.apache.kafka.common.metadata.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
        "org.apache.kafka.coordinator.share.generated.",
        "org.apache.kafka.raft.generated.",
        "org.apache.kafka.server.log.remote.metadata.storage.generated."
    );

    private final Map<String, Method> readers = new ConcurrentHashMap<>();

    @Override
    public Object run(JsonNode args) {
        List<String> encodings = new ArrayList<>();
        for (JsonNode item : args.get("items")) encodings.add(encode(item));
        return encodings;
    }

    private String encode(JsonNode item) {
        short version = (short) item.get("version").asInt();
        try {
            Method reader = readers.computeIfAbsent(item.get("message").asText(), EncodeMessagesCommand::readerOf);
            Message message = (Message) reader.invoke(null, item.get("value"), version);
            ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
            return Base64.getEncoder().encodeToString(MessageUtil.byteBufferToArray(bytes));
        } catch (InvocationTargetException refused) {
            return "error: " + refused.getCause();
        } catch (ReflectiveOperationException | RuntimeException refused) {
            return "error: " + refused;
        }
    }

    /** The read method of the message's JSON converter; requests and responses have the suffix Data. */
    private static Method readerOf(String message) {
        for (String prefix : PACKAGES) {
            for (String suffix : List.of("Data", "")) {
                try {
                    return Class.forName(prefix + message + suffix + "JsonConverter")
                        .getMethod("read", JsonNode.class, short.class);
                } catch (ClassNotFoundException | NoSuchMethodException elsewhere) {
                    // Every message is in one of the packages only.
                }
            }
        }
        throw new IllegalArgumentException("no JSON converter for " + message);
    }
}
