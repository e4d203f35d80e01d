// The records that `produce` sends: given one by one, or generated from a seed; used by ProduceCommand.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** A record before it has a place. */
record RecordSource(Long timestamp, byte[] key, byte[] value, List<Header> headers) {
    private static final String WORDS = "amber birch cedar delta ember flint grove heron ivory jade karst larch maple ";

    /**
     * records: [{key?, value?, timestamp?, headers?: [[key, value]]}] (text, null allowed), or generate: {count,
     * valueBytes? (64), random? (printable noise that hardly compresses), keys? (number of distinct keys, 0 = null keys),
     * keyPrefix?, timestamp? (of the first; default now), timestampStep? (ms, 1), headers? (per record), seed? (1)}.
     */
    static Iterable<RecordSource> of(JsonNode args) {
        if (args.has("records")) return given(args.get("records"));
        JsonNode plan = args.get("generate");
        int count = plan.get("count").asInt();
        Random random = new Random(plan.path("seed").asLong(1));
        return () -> new Iterator<>() {
            private int next = 0;

            @Override
            public boolean hasNext() {
                return next < count;
            }

            @Override
            public RecordSource next() {
                return generated(plan, next++, random);
            }
        };
    }

    private static List<RecordSource> given(JsonNode records) {
        List<RecordSource> sources = new ArrayList<>();
        for (JsonNode record : records) {
            List<Header> headers = new ArrayList<>();
            record.path("headers").forEach(pair -> headers.add(new RecordHeader(pair.get(0).asText(), bytes(pair.get(1)))));
            Long timestamp = record.has("timestamp") ? record.get("timestamp").asLong() : null;
            sources.add(new RecordSource(timestamp, bytes(record.path("key")), bytes(record.path("value")), headers));
        }
        return sources;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isTextual() ? text.asText().getBytes(StandardCharsets.UTF_8) : null;
    }

    private static RecordSource generated(JsonNode plan, int index, Random random) {
        int keys = plan.path("keys").asInt(0);
        byte[] key = keys == 0 ? null : (plan.path("keyPrefix").asText("key-") + index % keys).getBytes(StandardCharsets.UTF_8);
        byte[] value = new byte[plan.path("valueBytes").asInt(64)];
        if (plan.path("random").asBoolean(false)) fillWithNoise(value, random);
        else fillWithWords(value, random);
        List<Header> headers = new ArrayList<>();
        for (int header = 0; header < plan.path("headers").asInt(0); header++) {
            byte[] content = header % 3 == 2 ? null : ("h" + random.nextInt(1000)).getBytes(StandardCharsets.UTF_8);
            headers.add(new RecordHeader("header-" + header, content));
        }
        Long timestamp = plan.has("timestamp")
            ? Long.valueOf(plan.get("timestamp").asLong() + index * plan.path("timestampStep").asLong(1))
            : null;
        return new RecordSource(timestamp, key, value, headers);
    }

    private static void fillWithNoise(byte[] value, Random random) {
        random.nextBytes(value);
        for (int index = 0; index < value.length; index++) value[index] = (byte) ('0' + (value[index] & 63));
    }

    private static void fillWithWords(byte[] value, Random random) {
        int offset = random.nextInt(WORDS.length());
        for (int index = 0; index < value.length; index++) {
            if (index % 37 == 0) offset = random.nextInt(WORDS.length());
            value[index] = (byte) WORDS.charAt((offset + index) % WORDS.length());
        }
    }
}
