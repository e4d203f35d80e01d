/** The life of one incarnation of a joined node: begun with the data directory, ended by handing over, by a clean stop, or by a crash. Called by the start. */
import { BrokerIncarnation } from '../../controller/joined/broker-incarnation.ts'
import type { ClusterMembership } from '../../controller/joined/cluster-membership.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { FileSystem } from '../../log/file-system.ts'
import type { Startup } from '../startup.ts'
import { machineBootId } from './machine-boot.ts'

/** What happened to an incarnation, told by the start and the stop; decides what the next life may claim. */
export class IncarnationLife {
  readonly incarnation: BrokerIncarnation
  #started = false
  #leaving = false
  #storeIsClean = false

  constructor(incarnation: BrokerIncarnation) {
    this.incarnation = incarnation
  }

  /** The cluster has taken us. What fails before is a crash: it changed nothing that the next life could not go on with. */
  hasStarted(): void {
    this.#started = true
  }

  /** To be awaited before the controller is asked to take the leaderships: this incarnation can never serve again. */
  async leave(): Promise<void> {
    this.#leaving = true
    await this.incarnation.leaving()
  }

  readonly storeClosed = ({ clean }: { readonly clean: boolean }): void => {
    this.#storeIsClean = clean
  }

  /** Written when all logs are closed. */
  async end(): Promise<void> {
    if (this.#started && this.#storeIsClean) await this.incarnation.ended(this.#leaving ? 'handed-over' : 'clean')
  }
}

/** To be called before the log store is opened: it ends after that is closed. */
export async function beginIncarnation(
  of: { readonly fs: FileSystem; readonly directory: string; readonly logger: Logger },
  startup: Startup,
): Promise<IncarnationLife> {
  const { fs, directory } = of
  const incarnation = await BrokerIncarnation.begin({ fs, directory, bootId: await machineBootId() })
  const life = new IncarnationLife(incarnation)
  startup.onStop('incarnation', () => life.end())
  return life
}

/** How long the cluster may take to move our leaderships; a node has 30 s for its whole stop. */
const HAND_OVER_MS = 15_000

/** Asks the controller to move all leaderships away while this node still serves. Never rejects: what is not moved in time moves when the session ends. */
export async function leaveCluster(of: {
  readonly membership: Pick<ClusterMembership, 'handOver' | 'brokerEpoch'>
  readonly life: IncarnationLife
  readonly clock: Clock
  readonly logger: Logger
}): Promise<void> {
  const { membership, life, clock, logger } = of
  if (membership.brokerEpoch < 0) return
  await life.leave()
  const settled = new AbortController()
  const handedOver = membership.handOver().then(
    () => 'handed over' as const,
    error => `not handed over: ${messageOf(error)}`,
  )
  const outcome = await Promise.race([handedOver, sleep(clock, HAND_OVER_MS, settled.signal).then(() => undefined)])
  settled.abort()
  if (outcome === 'handed over') logger.info('the leaderships of this node were handed over')
  else logger.warn('leaderships move when the session of this node ends', { reason: outcome ?? 'it took too long' })
}
