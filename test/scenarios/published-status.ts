// A node that has just become ready publishes what it mirrors a moment later, and halves of bidirectional links are created when it has.
import { ok } from 'node:assert/strict'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'

/** Resolves when other clusters can read of it. */
export async function untilPublished({ bootstrap }: LockstepNode): Promise<void> {
  const admin = patientKafkaJs(bootstrap).admin()
  await admin.connect()
  try {
    await eventually(async () => {
      const [partition] = await admin.fetchTopicOffsets('__lockstep_status')
      ok(Number(partition?.high ?? 0) > 0)
    })
  } finally {
    await admin.disconnect()
  }
}
