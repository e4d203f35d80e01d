/** Errors of Kafka as REST tells them (rest-and-cli §1.1); the adapters behind the plain v3 resources throw them. */
import { type ErrorTable, errorFactory, type OperationalError } from '../../core/errors.ts'
import { ErrorCode, errorName, errorOf } from '../../protocol/errors.ts'
import type { WriteRefusal } from '../../replica/write-gate.ts'

const row = { kafka: 'INVALID_REQUEST', message: (d: { text: string }) => d.text }

const errors = {
  REFUSED: { ...row, status: 400, restCode: 40002, retriable: false },
  UNSUPPORTED: { ...row, status: 400, restCode: 40035, retriable: false },
  DENIED: { ...row, status: 403, restCode: 40301, retriable: false },
  NOT_HOSTED: { ...row, status: 404, restCode: 40403, retriable: false },
  TIMED_OUT: { ...row, status: 408, restCode: 408, retriable: true },
  INTERNAL: { ...row, status: 500, restCode: 500, retriable: false },
  RETRIABLE: { ...row, status: 503, restCode: 50003, retriable: true },
} satisfies ErrorTable
const refused = errorFactory(errors)

/** Codes that are not just a refusal. A time-out of a command means that it may yet be carried out. */
const kinds: ReadonlyMap<number, keyof typeof errors> = new Map([
  [ErrorCode.UNSUPPORTED_VERSION, 'UNSUPPORTED'],
  [ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'DENIED'],
  [ErrorCode.GROUP_AUTHORIZATION_FAILED, 'DENIED'],
  [ErrorCode.CLUSTER_AUTHORIZATION_FAILED, 'DENIED'],
  [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 'NOT_HOSTED'],
  [ErrorCode.UNKNOWN_TOPIC_ID, 'NOT_HOSTED'],
  [ErrorCode.GROUP_ID_NOT_FOUND, 'NOT_HOSTED'],
  [ErrorCode.REQUEST_TIMED_OUT, 'TIMED_OUT'],
  [ErrorCode.UNKNOWN_SERVER_ERROR, 'INTERNAL'],
])

/** The error for a code that is not NONE. */
export function kafkaRefusal(errorCode: number, message: string | null): OperationalError {
  const kind = kinds.get(errorCode) ?? (errorOf(errorCode)?.retriable ? 'RETRIABLE' : 'REFUSED')
  return refused(kind, { text: message ?? errorName(errorCode) })
}

/** What the write gate says against it. While it does not know yet, its code depends on the Kafka API; here it is one. */
export function gateRefusal({ errorCode, message }: WriteRefusal): OperationalError {
  return refused(errorCode === ErrorCode.POLICY_VIOLATION ? 'REFUSED' : 'RETRIABLE', { text: message })
}

/** Throws what an answer of the controller says, unless it says NONE or there is none. */
export function requireSuccess(result: { errorCode: number; errorMessage: string | null } | undefined): void {
  if (result && result.errorCode !== ErrorCode.NONE) throw kafkaRefusal(result.errorCode, result.errorMessage)
}
