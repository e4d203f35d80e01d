// list-apis: Kafka's APIs with versions and header versions; the oracle of src/protocol/api-registry.ts.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.message.ApiMessageType;

/** args: none; answers [{key, name, min, max, stableMax, requestHeaders, responseHeaders}], headers by version from min on. */
public final class ListApisCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (ApiMessageType api : ApiMessageType.values()) {
            if (api.lowestSupportedVersion() > api.highestSupportedVersion(true)) continue;
            List<Short> requestHeaders = new ArrayList<>();
            List<Short> responseHeaders = new ArrayList<>();
            for (short version = api.lowestSupportedVersion(); version <= api.highestSupportedVersion(true); version++) {
                requestHeaders.add(api.requestHeaderVersion(version));
                responseHeaders.add(api.responseHeaderVersion(version));
            }
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("key", api.apiKey());
            row.put("name", api.name);
            row.put("min", api.lowestSupportedVersion());
            row.put("max", api.highestSupportedVersion(true));
            row.put("stableMax", api.highestSupportedVersion(false));
            row.put("requestHeaders", requestHeaders);
            row.put("responseHeaders", responseHeaders);
            rows.add(row);
        }
        return rows;
    }
}
