// set-property: sets a system property of the driver, which some settings of clients are; used by the security suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;

/** args: {name, value}. Answers the value before, or null. */
public final class SetPropertyCommand implements Command {
    @Override
    public Object run(JsonNode args) {
        return System.setProperty(args.get("name").asText(), args.get("value").asText());
    }
}
