// list-errors: Kafka's table of error codes; the oracle of src/protocol/errors.ts.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** args: none; answers [{name, code, retriable}]. */
public final class ListErrorsCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            rows.add(Map.of("name", error.name(), "code", error.code(), "retriable", retriable));
        }
        return rows;
    }
}
