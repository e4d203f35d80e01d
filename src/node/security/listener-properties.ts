/** Kafka's properties as one listener sees them, with `listener.name.X.` (and `.mechanism.`) before the name first; read when listeners are made. */

export interface ListenerProperties {
  /** `listener.name.X.M.name` (if a mechanism is given), else `listener.name.X.name`, else `name`. */
  readonly value: (name: string, mechanism?: string) => string | undefined
  /** Only what is said for this listener by name. */
  readonly own: (name: string) => string | undefined
}

export function listenerProperties(properties: ReadonlyMap<string, string>, listener: string): ListenerProperties {
  const prefix = `listener.name.${listener.toLowerCase()}.`
  const own = (name: string): string | undefined => properties.get(prefix + name)
  return {
    own,
    value: (name, mechanism) =>
      (mechanism === undefined ? undefined : own(`${mechanism.toLowerCase()}.${name}`)) ??
      own(name) ??
      properties.get(name),
  }
}

/** Does this property decide about the security of listeners? Such ones can be changed while the node runs. */
export const concernsSecurity = (name: string): boolean => /(^|\.)(ssl|sasl)\.|connections\.max\.reauth\.ms$/.test(name)
