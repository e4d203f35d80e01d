/** Why a mirror topic or one of its partitions is FAILED: rest-and-cli §1.4 MirrorTopicError. */
export const mirrorTopicErrors = [
  'UNKNOWN',
  'NOT_SET',
  'NO_ERROR',
  'SOURCE_TOPIC_MAY_BE_DELETED',
  'SOURCE_TOPIC_ID_CHANGED',
  'SOURCE_PARTITIONS_DECREASED',
  'NON_MONOTONIC_LOG_APPEND_EPOCH',
  'UNEXPECTED_TRUNCATION',
  'UNSUPPORTED_MESSAGE_FORMAT',
  'NON_MONOTONIC_SOURCE_EPOCH',
  'ILLEGAL_STATE',
  'UNSUPPORTED_MIRROR_STATE',
  'AUTHORIZATION_ERROR',
  'CORRUPT_BATCH',
  'UNALIGNED_BATCH',
] as const

export type MirrorTopicError = (typeof mirrorTopicErrors)[number]
