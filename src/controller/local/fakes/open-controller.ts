/** A controller over a disk in memory, as a node would open it; tests of its log and snapshots use it. */
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { Uuid } from '../../../core/uuid.ts'
import type { MemoryFileSystem } from '../../../log/fakes/memory-file-system.ts'
import { LocalController } from '../local-controller.ts'

/** Of the data directory. */
export const directoryId = 'hzmhp9hQl8ACUa-s3E55ug' as Uuid

/** Always the same identity: what one left on the disk the next one finds. */
export const openController = (fs: MemoryFileSystem, properties: Record<string, string>): Promise<LocalController> =>
  LocalController.open({
    directory: '/data',
    clusterId: '4L6g3nShT-eMCtK--X86sw',
    nodeId: 1,
    directoryId,
    listeners: [{ name: 'PLAINTEXT', host: 'localhost', port: 9092, securityProtocol: 0 }],
    rack: null,
    serverProperties: new Map(Object.entries(properties)),
    fs,
    clock: new ManualClock(),
    logger: silentLogger,
  })
