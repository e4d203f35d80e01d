/** The links of the simulation and what each of them mirrors; read by actions and checks. */

/** `west` mirrors what it is told to; `east` also creates mirrors by itself, and is deleted now and then. */
export type LinkName = 'west' | 'east'

/** Mirrors that operators ask for. */
export const topicNames = ['orders', 'payments', 'audit'] as const

/** No filter of automatic creation includes it. */
export const excludedTopic = 'auto-secret'

export const sourceTopicNames = [...topicNames, 'auto-1', 'auto-2', excludedTopic] as const

/** Every topic belongs to one link. */
export const linkOf = (topic: string): LinkName => (topic === 'orders' || topic === 'payments' ? 'west' : 'east')
