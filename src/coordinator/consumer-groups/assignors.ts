/** The server-side assignors by name, and what they are given; the target of a consumer group is made with one. */
import type { Assignor } from './assigned-member.ts'
import { assignRanges } from './range-assignor.ts'
import { assignUniformly } from './uniform-assignor.ts'

export const assignors: Readonly<Record<string, Assignor>> = { uniform: assignUniformly, range: assignRanges }

/** Aliases: Kafka takes class names too. */
const classNames: Readonly<Record<string, string>> = {
  'org.apache.kafka.coordinator.group.assignor.UniformAssignor': 'uniform',
  'org.apache.kafka.coordinator.group.assignor.RangeAssignor': 'range',
}

/** Names of a property's list; what is no assignor here is left out. */
export const assignorNames = (text: string): string[] =>
  text
    .split(',')
    .map(part => classNames[part.trim()] ?? part.trim())
    .filter(name => Object.hasOwn(assignors, name))
