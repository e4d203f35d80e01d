/** Verifications that end when a test says so. */
import { linkError } from '../../link/errors.ts'
import type {
  VerificationsApi,
  VerificationView,
  VerifiedPartitionView,
  VerifyRequest,
} from '../../link/verification-api.ts'

export class FakeVerifications implements VerificationsApi {
  readonly requests: VerifyRequest[] = []
  readonly #all = new Map<string, { view: VerificationView; ended: PromiseWithResolvers<void> }>()

  begin(link: string, request: VerifyRequest): VerificationView {
    this.requests.push(request)
    const id = `verification-${this.#all.size}`
    const view: VerificationView = {
      ...{ id, linkName: link, state: 'RUNNING', outcome: null, startTimeMs: 1000, endTimeMs: null },
      topics: [
        {
          ...{ mirrorTopicName: 'orders', sourceTopicName: 'orders', errorCode: null, errorMessage: null },
          partitions: [partition(0, 'EQUAL'), partition(1, 'RUNNING')],
        },
      ],
    }
    this.#all.set(id, { view, ended: Promise.withResolvers() })
    return view
  }

  list(): VerificationView[] {
    return [...this.#all.values()].map(({ view }) => view).reverse()
  }

  describe(_link: string, id: string): VerificationView {
    return this.#find(id).view
  }

  ended(_link: string, id: string): Promise<void> {
    return this.#find(id).ended.promise
  }

  async cancel(_link: string, id: string): Promise<VerificationView> {
    this.end(id, 'CANCELLED')
    return this.#find(id).view
  }

  /** It has ended. */
  end(id: string, state: 'COMPLETED' | 'CANCELLED' = 'COMPLETED'): void {
    const found = this.#find(id)
    if (found.view.state !== 'RUNNING') return
    const outcome = state === 'COMPLETED' ? ('DIFFERENT' as const) : ('INCOMPLETE' as const)
    found.view = { ...found.view, state, outcome, endTimeMs: 2000 }
    found.ended.resolve()
  }

  #find(id: string) {
    const found = this.#all.get(id)
    if (!found) throw linkError('VERIFICATION_NOT_FOUND', { id })
    return found
  }
}

const partition = (index: number, state: 'EQUAL' | 'RUNNING'): VerifiedPartitionView => ({
  partition: index,
  state,
  method: 'BATCHES',
  ...{ fromOffset: 0, toOffset: 10, nextOffset: 5, comparedBytes: 100, comparedBatches: 2, comparedRecords: 0 },
  ...{ recordsOnlyAtSource: 0, recordsOnlyAtMirror: 0, difference: null, message: null },
  notCompared: [{ from: 10, to: 12, reason: 'the mirror ends at offset 10' }],
})
