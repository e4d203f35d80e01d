/** The security of all listeners of a node: loaded at start, and anew when key files or dynamic configs change. Made by the composition root. */
import { stat } from 'node:fs/promises'
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { Controller, ImageSubscriber } from '../../metadata/controller-port.ts'
import { ConfigResourceType, configOverrides, scramCredentialKey } from '../../metadata/metadata-image.ts'
import type { ListenerSecurity } from '../../network/listener-security.ts'
import { SCRAM_MECHANISMS } from '../../network/login/scram.ts'
import type { ListenerEndpoint } from '../listeners.ts'
import { concernsSecurity } from './listener-properties.ts'
import { type LoadedSecurity, loadListenerSecurity } from './listener-security.ts'

export interface ListenersSecurityOptions {
  readonly nodeId: number
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
  readonly controller: Controller
  /** How often the files are looked at. */
  readonly reloadMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** What can be changed of a listener while it listens. */
interface Listening {
  changeSecurity(security: ListenerSecurity): void
}

interface Secured {
  readonly endpoint: ListenerEndpoint
  listening: Listening | undefined
  files: readonly string[]
  /** Of files and properties as they were when they were read. */
  stamp: string
}

export class ListenersSecurity implements ImageSubscriber {
  readonly name = 'listener security'
  readonly #options: ListenersSecurityOptions
  readonly #secured = new Map<string, Secured>()
  readonly #looks = new SerialQueue()
  #timer: Timer | undefined
  #texts = ''
  #closed = false

  constructor(options: ListenersSecurityOptions) {
    this.#options = options
    this.#texts = this.#securityTexts()
  }

  /** Rejects when keys or certificates cannot be used. */
  async load(endpoint: ListenerEndpoint): Promise<ListenerSecurity> {
    const { security, files } = await this.#load(endpoint)
    const stamp = await stampOf(files, this.#texts)
    this.#secured.set(endpoint.name, { endpoint, listening: undefined, files, stamp })
    return security
  }

  /** From now on changes reach the listener. */
  watch(endpoint: ListenerEndpoint, listening: Listening): void {
    const secured = this.#secured.get(endpoint.name)
    if (secured) secured.listening = listening
    this.#timer ??= this.#lookLater()
  }

  /** Dynamic broker configs may be among the changes. */
  onImage(): void {
    const texts = this.#securityTexts()
    if (texts === this.#texts) return
    this.#texts = texts
    void this.#looks.run(() => this.#look())
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#looks.idle()
  }

  #lookLater(): Timer {
    const { clock, reloadMs } = this.#options
    return clock.after(reloadMs, () => {
      void this.#looks
        .run(() => this.#look())
        .then(() => {
          if (!this.#closed) this.#timer = this.#lookLater()
        })
    })
  }

  /** What cannot be loaded leaves the listener as it is, and is tried again when it changes. Never rejects. */
  async #look(): Promise<void> {
    const { logger } = this.#options
    for (const secured of this.#secured.values()) {
      const { endpoint, listening, files } = secured
      const stamp = await stampOf(files, this.#texts)
      if (stamp === secured.stamp || !listening || this.#closed) continue
      secured.stamp = stamp
      try {
        const loaded = await this.#load(endpoint)
        // Of the same files the stamp from before: what changed while they were read is seen by the next look.
        if (loaded.files.join() !== files.join()) secured.stamp = await stampOf(loaded.files, this.#texts)
        secured.files = loaded.files
        listening.changeSecurity(loaded.security)
        logger.info('the security of a listener was loaded anew', { listener: endpoint.name })
      } catch (error) {
        const reason = messageOf(error)
        logger.error('the security of a listener stays as it was', { listener: endpoint.name, reason })
      }
    }
  }

  #load(endpoint: ListenerEndpoint): Promise<LoadedSecurity> {
    const { controller, clock, logger } = this.#options
    const surroundings = {
      scram: (user: string, mechanism: (typeof SCRAM_MECHANISMS)[number]) =>
        controller.image.scramCredentials.get(scramCredentialKey(user, SCRAM_MECHANISMS.indexOf(mechanism) + 1)),
      clock,
      logger: logger.child({ component: 'network', listener: endpoint.name }),
    }
    return loadListenerSecurity(endpoint, this.#properties(), surroundings)
  }

  /** The file, under the dynamic configs of all brokers, under those of this one. */
  #properties(): Map<string, string> {
    const { controller, nodeId, file } = this.#options
    const dynamic = ['', String(nodeId)].flatMap(name => [
      ...configOverrides(controller.image, { type: ConfigResourceType.BROKER, name }),
    ])
    return new Map([...file, ...dynamic])
  }

  #securityTexts(): string {
    return JSON.stringify([...this.#properties()].filter(([name]) => concernsSecurity(name)).sort())
  }
}

/** Time, size and place of each file: a replaced one has another place. */
async function stampOf(files: readonly string[], texts: string): Promise<string> {
  const stats = await Promise.all(
    files.map(file =>
      stat(file).then(
        ({ mtimeMs, size, ino }) => [mtimeMs, size, ino],
        () => 'missing',
      ),
    ),
  )
  return JSON.stringify([stats, texts])
}
