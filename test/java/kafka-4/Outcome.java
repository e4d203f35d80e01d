// Turns answers and failures of Kafka's futures into plain values that suites compare; used by the admin commands.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.TimeoutException;

/** A failure becomes {error: simple name of the exception}. */
final class Outcome {
    private Outcome() {}

    /** What the future gives, or its failure. */
    static <T> Object of(KafkaFuture<T> future, Function<T, Object> shape) throws InterruptedException {
        try {
            return shape.apply(future.get());
        } catch (ExecutionException failed) {
            return of(failed.getCause());
        }
    }

    /** "ok", or its failure. */
    static Object of(KafkaFuture<?> future) throws InterruptedException {
        return of(future, ignored -> "ok");
    }

    /** A failure by name, with the name of its cause if that says more; what a time-out hit is chance. */
    static Map<String, Object> of(Throwable error) {
        Map<String, Object> outcome = new LinkedHashMap<>();
        outcome.put("error", error.getClass().getSimpleName());
        if (error.getCause() != null && !(error instanceof TimeoutException)) outcome.put("cause", error.getCause().getClass().getSimpleName());
        return outcome;
    }

    /** A JSON list of texts. */
    static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    /** Each future's outcome under the text of its key, in the order of the texts. */
    static <K> Map<String, Object> each(Map<K, ? extends KafkaFuture<?>> futures) throws InterruptedException {
        Map<String, Object> outcomes = new TreeMap<>();
        for (var entry : futures.entrySet()) outcomes.put(String.valueOf(entry.getKey()), of(entry.getValue()));
        return outcomes;
    }
}
