// A Kafka Streams application of its own process: counts words exactly once; started by the streams suite.
package lockstep.streams;

import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/**
 * Arguments: bootstrap servers, application id, state directory. Reads lines from the topic `lines` and writes every new
 * count of a word, as text, to the topic `counts`. Prints its states; runs until it is killed.
 */
public final class WordCount {
    private WordCount() {}

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", arguments[0]);
        properties.put("application.id", arguments[1]);
        properties.put("state.dir", arguments[2]);
        properties.put("processing.guarantee", "exactly_once_v2");
        properties.put("num.stream.threads", "2");
        // Without a cache each count is written, so a word's counts are 1, 2, 3 … if nothing is counted twice or lost.
        properties.put("statestore.cache.max.bytes", "0");
        properties.put("replication.factor", "1");
        properties.put("main.consumer.session.timeout.ms", "10000");
        properties.put("main.consumer.auto.offset.reset", "earliest");
        properties.put("metadata.max.age.ms", "5000");
        KafkaStreams streams = new KafkaStreams(topology().build(), properties);
        streams.setStateListener((state, before) -> System.out.println("state " + state));
        streams.setUncaughtExceptionHandler(error -> {
            System.out.println("replacing a thread after " + error);
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.start();
        Thread.currentThread().join();
    }

    private static StreamsBuilder topology() {
        Serde<String> text = Serdes.String();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("lines", Consumed.with(text, text))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with("words", text, text))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("word-counts"))
                .withKeySerde(text).withValueSerde(Serdes.Long()))
            .toStream()
            .mapValues(String::valueOf)
            .to("counts", Produced.with(text, text));
        return builder;
    }
}
