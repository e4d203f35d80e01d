/** Under which incarnation this node registers, and what it may claim about its last life; kept in the data directory, durable before each registration. */
import { isUuid, randomUuid, type Uuid } from '../../core/uuid.ts'
import { type FileSystem, loadText, saveFile } from '../../log/file-system.ts'

const FILE_NAME = 'lockstep-incarnation.json'

/**
 * How the last life ended. crashed: nobody said otherwise. clean: every log was flushed and closed. leaving: it had asked the
 * controller to take its leaderships, and the rest is not known; its registration says "shutting down" from then on. handed-over:
 * leaving, and clean.
 */
type Ending = 'crashed' | 'clean' | 'leaving' | 'handed-over'

interface Stored {
  readonly version: 1
  readonly incarnationId: string
  /** Of the machine; null = the system does not tell. */
  readonly bootId: string | null
  /** Under which the cluster knew us last; −1 = never. */
  readonly brokerEpoch: number
  readonly ending: Ending
}

export interface IncarnationOptions {
  readonly fs: FileSystem
  readonly directory: string
  /** Changes when the machine starts anew; undefined if that cannot be known. */
  readonly bootId: string | undefined
}

export class BrokerIncarnation {
  readonly id: Uuid
  /** For the registration: the broker epoch of the last life if it ended cleanly, else −1, which is "unclean". */
  readonly previousEpoch: number
  readonly #options: IncarnationOptions
  #brokerEpoch: number

  private constructor(options: IncarnationOptions, of: { id: Uuid; previousEpoch: number; brokerEpoch: number }) {
    this.#options = options
    this.id = of.id
    this.previousEpoch = of.previousEpoch
    this.#brokerEpoch = of.brokerEpoch
  }

  /**
   * The same incarnation goes on after a clean stop, and after a crash of the process alone: what it had written is in the
   * system's cache or on disk. After a crash of the machine the logs may be shorter than followers know, and leading on in the same
   * epoch would make them truncate good records: then, and whenever that cannot be told, it is a new one. It is also a new one after
   * leaderships were handed over: to register again under the old one would leave the broker "shutting down" for ever.
   */
  static async begin(options: IncarnationOptions): Promise<BrokerIncarnation> {
    const last = await load(options)
    const sameBoot = last !== undefined && last.bootId !== null && last.bootId === options.bootId
    const goesOn = last !== undefined && (last.ending === 'clean' || (last.ending === 'crashed' && sameBoot))
    const incarnation = new BrokerIncarnation(options, {
      id: goesOn ? (last.incarnationId as Uuid) : randomUuid(),
      previousEpoch: last?.ending === 'clean' || last?.ending === 'handed-over' ? last.brokerEpoch : -1,
      brokerEpoch: goesOn ? last.brokerEpoch : -1,
    })
    await incarnation.#save('crashed')
    return incarnation
  }

  /** The cluster took us, under this epoch. */
  async registered(brokerEpoch: number): Promise<void> {
    this.#brokerEpoch = brokerEpoch
    await this.#save('crashed')
  }

  /** Before the first heartbeat that asks to shut down: this incarnation will never serve again. */
  async leaving(): Promise<void> {
    await this.#save('leaving')
  }

  /** Only after every log is flushed and closed. */
  async ended(how: 'clean' | 'handed-over'): Promise<void> {
    await this.#save(how)
  }

  async #save(ending: Ending): Promise<void> {
    const { fs, directory, bootId } = this.#options
    const stored: Stored = {
      version: 1,
      incarnationId: this.id,
      bootId: bootId ?? null,
      brokerEpoch: this.#brokerEpoch,
      ending,
    }
    await saveFile(fs, `${directory}/${FILE_NAME}`, `${JSON.stringify(stored)}\n`)
  }
}

/** What cannot be understood counts as nothing: a new incarnation is always safe. */
async function load({ fs, directory }: IncarnationOptions): Promise<Stored | undefined> {
  const text = await loadText(fs, `${directory}/${FILE_NAME}`)
  if (text === undefined) return undefined
  try {
    const stored = JSON.parse(text) as Partial<Stored>
    const { version, incarnationId = '', bootId = null, brokerEpoch = -1, ending = 'crashed' } = stored
    if (version !== 1 || !isUuid(incarnationId) || !Number.isSafeInteger(brokerEpoch)) return undefined
    return { version, incarnationId, bootId, brokerEpoch, ending }
  } catch {
    return undefined
  }
}
