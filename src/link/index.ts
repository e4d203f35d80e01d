/** What the rest of Lockstep may use of the link engine: the only barrel of the product. */
export { Engine } from './engine.ts'
export type * from './engine-api.ts'
export type { EngineOptions } from './engine-options.ts'
export { statusTopicName } from './status/status-key.ts'
