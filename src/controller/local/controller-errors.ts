/** Expected failures of the local controller; raised by its commands, shown by REST and the command line. */
import { errorFactory } from '../../core/errors.ts'

export const controllerErrors = {
  CONTROLLER_CLOSED: {
    status: 503,
    restCode: 50003,
    kafka: 'NOT_CONTROLLER',
    retriable: true,
    message: () => 'this node is shutting down and takes no more changes of metadata',
  },
  METADATA_LOG_FAILED: {
    status: 500,
    restCode: 500,
    kafka: 'KAFKA_STORAGE_ERROR',
    retriable: false,
    message: (detail: { reason: string }) => `the metadata log could not be written: ${detail.reason}`,
    hint: () => 'check the disk of metadata.log.dir; if the node does not recover by itself, restart it',
  },
  METADATA_LOG_UNREADABLE: {
    status: 500,
    restCode: 500,
    kafka: 'KAFKA_STORAGE_ERROR',
    retriable: false,
    message: (detail: { directory: string; reason: string }) =>
      `the metadata log in ${detail.directory} could not be read: ${detail.reason}`,
  },
  UNKNOWN_PARTITION: {
    status: 404,
    restCode: 40403,
    kafka: 'UNKNOWN_TOPIC_OR_PARTITION',
    retriable: true,
    message: (detail: { topicId: string; partition: number }) =>
      `partition ${detail.partition} of topic ${detail.topicId} does not exist or has no leader`,
  },
  PRODUCER_IDS_EXHAUSTED: {
    status: 500,
    restCode: 500,
    kafka: 'UNKNOWN_SERVER_ERROR',
    retriable: false,
    message: () => 'all producer ids are used up',
  },
}

export const controllerError = errorFactory(controllerErrors)
