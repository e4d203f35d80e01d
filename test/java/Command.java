// The contract of the driver's commands: the command some-name is the class SomeNameCommand; found by Driver.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;

/** One command, made once per driver; run may be called by several threads at a time. */
public interface Command {
    /** Runs with the request's args; what it returns becomes JSON (a JsonNode, Map, List, record or plain value). */
    Object run(JsonNode args) throws Exception;
}
