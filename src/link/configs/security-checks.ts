/** Checks of security properties that look at a secret before it is sealed, or at several properties together. Pure; called by link-configs. */
import { messageOf } from '../../core/errors.ts'
import { parseJaas } from '../../core/jaas.ts'

/** What is wrong with a secret; undefined = nothing. References are looked up only when a connection is made. */
export function secretProblem(key: string, text: string): string | undefined {
  if (text === '') return 'is empty'
  if (!key.endsWith('sasl.jaas.config') || /^\$\{[^}]*\}$/.test(text.trim())) return undefined
  try {
    parseJaas(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Properties that the others need. */
export function incompleteSecurity(
  overrides: ReadonlyMap<string, string>,
): { readonly key: string; readonly problem: string } | undefined {
  const protocol = overrides.get('security.protocol') ?? 'PLAINTEXT'
  if (!protocol.startsWith('SASL_')) return undefined
  const mechanism = overrides.get('sasl.mechanism')?.toUpperCase()
  const problem = `is required with security.protocol ${protocol}`
  if (mechanism === undefined) return { key: 'sasl.mechanism', problem }
  const key = mechanism === 'OAUTHBEARER' ? 'sasl.oauthbearer.token.endpoint.url' : 'sasl.jaas.config'
  return overrides.has(key) ? undefined : { key, problem: `${problem} and sasl.mechanism ${mechanism}` }
}
