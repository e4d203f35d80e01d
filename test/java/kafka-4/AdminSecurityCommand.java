// admin-security: Java Admin's calls about ACLs and SCRAM credentials, with failures as values; for the conformance suites.
package lockstep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/**
 * args: {bootstrap, admin?, op, ...}. An ACL is [resource type, name, pattern type, principal, host, operation, permission]; in
 * filters null is any. op: `create-acls` {acls}, `acls` {filter}, `delete-acls` {filters}, `scram` {users?}, `alter-scram`
 * {upsert?: [[user, mechanism, iterations, password]], delete?: [[user, mechanism]]}.
 */
public final class AdminSecurityCommand implements Command {
    @Override
    public Object run(JsonNode args) throws Exception {
        Admin admin = Clients.admin(args);
        return switch (args.get("op").asText()) {
            case "create-acls" -> createAcls(admin, args);
            case "acls" -> Outcome.of(admin.describeAcls(filter(args.get("filter"))).values(), AdminSecurityCommand::texts);
            case "delete-acls" -> deleteAcls(admin, args);
            case "scram" -> scram(admin, args);
            case "alter-scram" -> Outcome.each(admin.alterUserScramCredentials(alterations(args)).values());
            default -> throw new IllegalArgumentException(args.get("op").asText());
        };
    }

    private static Object createAcls(Admin admin, JsonNode args) throws Exception {
        List<AclBinding> bindings = new ArrayList<>();
        args.get("acls").forEach(acl -> bindings.add(new AclBinding(
            new ResourcePattern(
                ResourceType.fromString(acl.get(0).asText()),
                acl.get(1).asText(),
                PatternType.fromString(acl.get(2).asText())),
            new AccessControlEntry(
                acl.get(3).asText(),
                acl.get(4).asText(),
                AclOperation.fromString(acl.get(5).asText()),
                AclPermissionType.fromString(acl.get(6).asText())))));
        return Outcome.each(admin.createAcls(bindings).values());
    }

    private static AclBindingFilter filter(JsonNode acl) {
        return new AclBindingFilter(
            new ResourcePatternFilter(
                ResourceType.fromString(acl.path(0).asText("any")),
                acl.path(1).asText(null),
                PatternType.fromString(acl.path(2).asText("ANY"))),
            new AccessControlEntryFilter(
                acl.path(3).asText(null),
                acl.path(4).asText(null),
                AclOperation.fromString(acl.path(5).asText("any")),
                AclPermissionType.fromString(acl.path(6).asText("any"))));
    }

    private static List<String> texts(Collection<AclBinding> bindings) {
        return bindings.stream().map(AclBinding::toString).sorted().toList();
    }

    private static Object deleteAcls(Admin admin, JsonNode args) throws Exception {
        List<AclBindingFilter> filters = new ArrayList<>();
        args.get("filters").forEach(filter -> filters.add(filter(filter)));
        Map<String, Object> answers = new TreeMap<>();
        for (var entry : admin.deleteAcls(filters).values().entrySet()) {
            answers.put(entry.getKey().toString(), Outcome.of(entry.getValue(), results ->
                texts(results.values().stream().map(result -> result.binding()).toList())));
        }
        return answers;
    }

    private static Object scram(Admin admin, JsonNode args) throws Exception {
        var result = args.has("users")
            ? admin.describeUserScramCredentials(Outcome.texts(args.get("users")))
            : admin.describeUserScramCredentials();
        if (!args.has("users")) {
            return Outcome.of(result.all(), found -> {
                Map<String, Object> users = new TreeMap<>();
                found.forEach((user, description) -> users.put(user, infos(description.credentialInfos())));
                return users;
            });
        }
        Map<String, Object> users = new TreeMap<>();
        for (String user : Outcome.texts(args.get("users"))) {
            users.put(user, Outcome.of(result.description(user), found -> infos(found.credentialInfos())));
        }
        return users;
    }

    private static List<String> infos(List<ScramCredentialInfo> infos) {
        return infos.stream().map(ScramCredentialInfo::toString).sorted().toList();
    }

    private static List<UserScramCredentialAlteration> alterations(JsonNode args) {
        List<UserScramCredentialAlteration> alterations = new ArrayList<>();
        for (JsonNode row : args.path("upsert")) {
            ScramCredentialInfo info =
                new ScramCredentialInfo(ScramMechanism.fromMechanismName(row.get(1).asText()), row.get(2).asInt());
            alterations.add(new UserScramCredentialUpsertion(row.get(0).asText(), info, row.get(3).asText()));
        }
        for (JsonNode row : args.path("delete")) {
            alterations.add(new UserScramCredentialDeletion(
                row.get(0).asText(), ScramMechanism.fromMechanismName(row.get(1).asText())));
        }
        return alterations;
    }
}
