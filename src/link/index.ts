/** What the rest of Lockstep may use of the link engine: the only barrel of the product. */
export { linkConfigKeys, linkConfigRows } from './configs/link-config-rows.ts'
export { Engine, type EngineOptions } from './engine.ts'
export type * from './engine-api.ts'
export { linkErrors } from './errors.ts'
export { mirrorTopicTable, mirrorVerbs } from './states/mirror-topic-state.ts'
