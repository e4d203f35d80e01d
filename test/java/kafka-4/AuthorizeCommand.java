// authorize: questions to Kafka's own StandardAuthorizer over given ACLs; for the authorization suite.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * args: {superUsers, openWithoutAcl, acls, questions, byType, filters}; numbers as on the wire. ACLs and filters are
 * {resourceType, resourceName, patternType, principal, host, operation, permissionType}; questions {principal, host, operation,
 * resourceType, name}, those by type without the name. Answers {questions: [boolean], byType: [boolean], filters: [number of matches]}.
 */
public final class AuthorizeCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        try (StandardAuthorizer authorizer = new StandardAuthorizer(); Metrics metrics = new Metrics()) {
            authorizer.configure(Map.of(
                StandardAuthorizer.SUPER_USERS_CONFIG, args.get("superUsers").asText(),
                StandardAuthorizer.ALLOW_EVERYONE_IF_NO_ACL_IS_FOUND_CONFIG, args.get("openWithoutAcl").asText()));
            authorizer.withPluginMetrics(new PluginMetricsImpl(metrics, Map.of()));
            Map<Uuid, StandardAcl> acls = new HashMap<>();
            for (JsonNode acl : args.get("acls")) acls.put(Uuid.randomUuid(), aclOf(acl));
            authorizer.loadSnapshot(acls);
            authorizer.completeInitialLoad();
            List<Boolean> questions = new ArrayList<>();
            for (JsonNode question : args.get("questions")) {
                ResourcePattern pattern = new ResourcePattern(
                    typeOf(question), question.get("name").asText(), PatternType.LITERAL);
                Action action = new Action(operationOf(question), pattern, 1, false, false);
                questions.add(authorizer.authorize(new Context(question), List.of(action)).get(0) == AuthorizationResult.ALLOWED);
            }
            List<Boolean> byType = new ArrayList<>();
            for (JsonNode question : args.get("byType")) {
                byType.add(authorizer.authorizeByResourceType(new Context(question), operationOf(question), typeOf(question))
                    == AuthorizationResult.ALLOWED);
            }
            List<Integer> filters = new ArrayList<>();
            for (JsonNode filter : args.get("filters")) {
                int matches = 0;
                for (AclBinding ignored : authorizer.acls(filterOf(filter))) matches++;
                filters.add(matches);
            }
            return Map.of("questions", questions, "byType", byType, "filters", filters);
        }
    }

    private static StandardAcl aclOf(JsonNode acl) {
        return new StandardAcl(typeOf(acl), acl.get("resourceName").asText(), patternOf(acl), acl.get("principal").asText(),
            acl.get("host").asText(), operationOf(acl), permissionOf(acl));
    }

    private static AclBindingFilter filterOf(JsonNode filter) {
        return new AclBindingFilter(
            new ResourcePatternFilter(typeOf(filter), textOf(filter.get("resourceName")), patternOf(filter)),
            new AccessControlEntryFilter(textOf(filter.get("principal")), textOf(filter.get("host")), operationOf(filter),
                permissionOf(filter)));
    }

    private static String textOf(JsonNode node) {
        return node.isNull() ? null : node.asText();
    }

    private static ResourceType typeOf(JsonNode node) {
        return ResourceType.fromCode((byte) node.get("resourceType").asInt());
    }

    private static PatternType patternOf(JsonNode node) {
        return PatternType.fromCode((byte) node.get("patternType").asInt());
    }

    private static AclOperation operationOf(JsonNode node) {
        return AclOperation.fromCode((byte) node.get("operation").asInt());
    }

    private static AclPermissionType permissionOf(JsonNode node) {
        return AclPermissionType.fromCode((byte) node.get("permissionType").asInt());
    }

    /** Who asks. */
    private record Context(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        Context(JsonNode question) throws Exception {
            this(SecurityUtils.parseKafkaPrincipal(question.get("principal").asText()),
                InetAddress.getByName(question.get("host").asText()));
        }

        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int requestVersion() {
            return 0;
        }

        @Override
        public String clientId() {
            return "suite";
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }
}
