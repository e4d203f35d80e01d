/** The joined controller's parts over a fake quorum, closed when the test ends. */
import type { TestContext } from 'node:test'
import { Backoff } from '../../../core/backoff.ts'
import { systemClock } from '../../../core/clock.ts'
import type { OperationalError } from '../../../core/errors.ts'
import { silentLogger } from '../../../core/logger.ts'
import { seededRandom } from '../../../core/random.ts'
import { randomUuid } from '../../../core/uuid.ts'
import type { MetadataImage } from '../../../metadata/metadata-image.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../../protocol/metadata-records/registry.ts'
import { ActiveController, type QuorumAddresses } from '../active-controller.ts'
import { ControllerQuestions } from '../controller-questions.ts'
import { MetadataObserver } from '../metadata-observer.ts'
import { openToAll, quorumConnections } from '../quorum-connection.ts'
import { FakeQuorum, type FakeQuorumOptions } from './fake-quorum.ts'

export const quickBackoff = () => new Backoff({ initialMs: 1, maxMs: 20, random: seededRandom(1) })

export async function startQuorum(t: TestContext, options?: FakeQuorumOptions): Promise<FakeQuorum> {
  const quorum = await FakeQuorum.start(options)
  t.after(() => quorum.close())
  return quorum
}

export function clientOf(
  t: TestContext,
  addresses: QuorumAddresses,
  { clusterId = null, timeoutMs = 2000 }: { clusterId?: string | null; timeoutMs?: number } = {},
): ActiveController {
  const open = quorumConnections({ clientId: 'test', security: openToAll, clock: systemClock, timeoutMs })
  const active = new ActiveController({ addresses, clusterId: () => clusterId, open, timeoutMs })
  t.after(() => active.close())
  return active
}

export const bootstrapOf = (quorum: FakeQuorum): QuorumAddresses => ({ bootstrap: quorum.places, voters: new Map() })

export function observe(t: TestContext, quorum: FakeQuorum, clusterId: string | null = quorum.clusterId) {
  const failures: OperationalError[] = []
  const observer = new MetadataObserver({
    active: clientOf(t, bootstrapOf(quorum), { clusterId }),
    nodeId: 1001,
    directoryId: randomUuid(),
    clusterId,
    timeoutMs: 2000,
    backoff: quickBackoff(),
    clock: systemClock,
    logger: silentLogger,
    onFailure: reason => failures.push(reason),
  })
  t.after(() => observer.close())
  return { observer, failures }
}

/** Resolves with the first image for which this holds. */
export function imageWhere(
  observer: MetadataObserver,
  holds: (image: MetadataImage) => boolean,
): Promise<MetadataImage> {
  const { promise, resolve } = Promise.withResolvers<MetadataImage>()
  void observer.subscribe({
    name: 'test',
    onImage: image => {
      if (holds(image)) resolve(image)
    },
  })
  return promise
}

export const feature = (name: string, featureLevel: number): MetadataRecordInput => ({
  type: MetadataRecordType.FeatureLevel,
  version: 0,
  value: { name, featureLevel },
})

export function questionsOf(t: TestContext, quorum: FakeQuorum, giveUpMs = 10_000): ControllerQuestions {
  const questions = new ControllerQuestions({
    active: clientOf(t, bootstrapOf(quorum)),
    clock: systemClock,
    backoff: quickBackoff,
    giveUpMs,
    timeoutMs: 2000,
  })
  t.after(() => questions.close())
  return questions
}
