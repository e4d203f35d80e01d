/** What all forwarded commands of the joined Controller share: ask, then wait until this node's image shows the outcome. */

import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { CallableApi } from '../../network/broker-connection.ts'
import type { ControllerQuestions, QuestionOptions } from './controller-questions.ts'
import type { MetadataObserver } from './metadata-observer.ts'

/** How long the controller may take over a command. */
export const COMMAND_MS = 30_000

export interface ForwardingOptions {
  readonly observer: MetadataObserver
  readonly questions: ControllerQuestions
}

export class Forwarding {
  readonly #options: ForwardingOptions

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  get image(): MetadataImage {
    return this.#options.observer.image
  }

  /** Resolves when the change is in the image, for all subscribers. */
  async change<Q, R>(
    api: CallableApi<Q, R>,
    request: Q | ((version: number) => Q),
    options: QuestionOptions<R>,
  ): Promise<R> {
    const { response, epoch } = await this.#options.questions.ask(api, request, { waitMs: COMMAND_MS, ...options })
    await this.#options.observer.reached(epoch)
    return response
  }

  /** As `change`, or as `ask` where the command is only judged. */
  async changeUnless<Q, R>(
    validateOnly: boolean,
    api: CallableApi<Q, R>,
    { request, ...options }: QuestionOptions<R> & { readonly request: Q },
  ): Promise<R> {
    return validateOnly ? await this.ask(api, request, options) : await this.change(api, request, options)
  }

  /** For what changes nothing. */
  async ask<Q, R>(
    api: CallableApi<Q, R>,
    request: Q | ((version: number) => Q),
    options: QuestionOptions<R>,
  ): Promise<R> {
    return (await this.#options.questions.ask(api, request, options)).response
  }
}
