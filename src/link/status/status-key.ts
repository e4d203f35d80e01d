/** Keys of `__lockstep_status`: what a published record is about. Same layout as the keys of the state, kinds of their own. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import type { StateKey } from '../state-records/state-key.ts'

export const statusTopicName = '__lockstep_status'

/** What kinds of records there are; numbers are for ever. A reader passes over kinds that it does not know. */
export const statusKinds = {
  cluster: 0,
  link: 1,
  mirror: 2,
  stopPoint: 3,
  reversal: 4,
} as const

export const clusterStatusKey: StateKey = { kind: statusKinds.cluster, scope: ZERO_UUID, name: '', partition: -1 }

export const linkStatusKey = (linkId: Uuid): StateKey => ({
  kind: statusKinds.link,
  scope: linkId,
  name: '',
  partition: -1,
})

export const mirrorStatusKey = (linkId: Uuid, mirrorTopic: string): StateKey => ({
  kind: statusKinds.mirror,
  scope: linkId,
  name: mirrorTopic,
  partition: -1,
})

export const reversalStatusKey = (linkId: Uuid, mirrorTopic: string): StateKey => ({
  kind: statusKinds.reversal,
  scope: linkId,
  name: mirrorTopic,
  partition: -1,
})

export const stopPointStatusKey = (linkId: Uuid, mirrorTopic: string, partition: number): StateKey => ({
  kind: statusKinds.stopPoint,
  scope: linkId,
  name: mirrorTopic,
  partition,
})
