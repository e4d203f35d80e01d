/** Applies the records about brokers and controllers (0, 1, 7, 8, 17, 27) to a copy; used by the metadata editor. */
import { offsetFromWire } from '../core/offset.ts'
import type { RegisterBrokerRecord } from '../protocol/metadata-records/00-register-broker.ts'
import type { BrokerRegistrationChangeRecord } from '../protocol/metadata-records/17-broker-registration-change.ts'
import type { RegisterControllerRecord } from '../protocol/metadata-records/27-register-controller.ts'
import type { BrokerImage, ControllerImage, EndpointImage, FeatureRange, MetadataImage } from './metadata-image.ts'
import { MetadataReplayError } from './replay-error.ts'

export class BrokerChanges {
  readonly #base: MetadataImage
  readonly #changed = new Set<number>()
  #brokers: Map<number, BrokerImage> | undefined
  #controllers: Map<number, ControllerImage> | undefined

  constructor(base: MetadataImage) {
    this.#base = base
  }

  register(record: RegisterBrokerRecord): void {
    this.#set({
      id: record.brokerId,
      epoch: offsetFromWire(record.brokerEpoch),
      incarnationId: record.incarnationId,
      listeners: listenersByName(record.endPoints),
      features: featuresByName(record.features),
      rack: record.rack,
      fenced: record.fenced,
      inControlledShutdown: record.inControlledShutdown,
      logDirs: record.logDirs,
      cordonedLogDirs: record.cordonedLogDirs,
    })
  }

  unregister(id: number, epoch: bigint): void {
    this.#registered(id, epoch)
    this.#editBrokers().delete(id)
    this.#changed.add(id)
  }

  /** Record 17: −1 / 0 / 1 = off / unchanged / on. */
  change(record: BrokerRegistrationChangeRecord): void {
    const before = this.#registered(record.brokerId, record.brokerEpoch)
    this.#set({
      ...before,
      fenced: switched(before.fenced, record.fenced),
      inControlledShutdown: switched(before.inControlledShutdown, record.inControlledShutdown),
      logDirs: record.logDirs.length > 0 ? record.logDirs : before.logDirs,
      cordonedLogDirs: record.cordonedLogDirs ?? before.cordonedLogDirs,
    })
  }

  /** Records 7 and 8, written at old metadata versions. */
  fence(id: number, epoch: bigint, fenced: boolean): void {
    this.#set({ ...this.#registered(id, epoch), fenced })
  }

  registerController(record: RegisterControllerRecord): void {
    this.#controllers ??= new Map(this.#base.controllers)
    this.#controllers.set(record.controllerId, {
      id: record.controllerId,
      incarnationId: record.incarnationId,
      listeners: listenersByName(record.endPoints),
      features: featuresByName(record.features),
    })
  }

  finish(): Pick<MetadataImage, 'brokers' | 'controllers'> & { changedBrokers: ReadonlySet<number> } {
    return {
      brokers: this.#brokers ?? this.#base.brokers,
      controllers: this.#controllers ?? this.#base.controllers,
      changedBrokers: this.#changed,
    }
  }

  #editBrokers(): Map<number, BrokerImage> {
    this.#brokers ??= new Map(this.#base.brokers)
    return this.#brokers
  }

  #set(broker: BrokerImage): void {
    this.#editBrokers().set(broker.id, broker)
    this.#changed.add(broker.id)
  }

  #registered(id: number, epoch: bigint): BrokerImage {
    const broker = (this.#brokers ?? this.#base.brokers).get(id)
    if (broker === undefined) throw new MetadataReplayError(`broker ${id} changes but is not registered`)
    if (broker.epoch !== offsetFromWire(epoch))
      throw new MetadataReplayError(`broker ${id} changes at epoch ${epoch} but is registered at ${broker.epoch}`)
    return broker
  }
}

const switched = (before: boolean, change: number): boolean => (change === 0 ? before : change > 0)

const listenersByName = (endpoints: readonly EndpointImage[]): ReadonlyMap<string, EndpointImage> =>
  new Map(endpoints.map(endpoint => [endpoint.name, endpoint]))

const featuresByName = (
  features: readonly { name: string; minSupportedVersion: number; maxSupportedVersion: number }[],
): ReadonlyMap<string, FeatureRange> =>
  new Map(features.map(({ name, minSupportedVersion: min, maxSupportedVersion: max }) => [name, { min, max }]))
