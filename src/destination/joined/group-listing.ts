/** All groups of a joined cluster that have offsets, asked of every broker that may coordinate some; the joined destination asks. */
import { commitsOffsets, isShareGroup } from '../../link/ports.ts'
import { isActiveBroker, javaBrokers } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ListGroupsApi } from '../../protocol/messages/16-list-groups.ts'
import { BrokerRefusal } from './broker-questions.ts'
import type { BrokerLinks } from './group-coordinators.ts'

/** Groups that commit what they have read, or share groups, which have start offsets. */
export type ListedKind = 'committing' | 'share'

const isOf = { committing: commitsOffsets, share: isShareGroup } as const

/** From version 5 on types of groups are told. */
const LIST_GROUPS = { min: 0, max: 5 }

/** Rejects where one of the brokers cannot be asked, or is loading: then some may be missing. */
export async function listGroupIds(
  { image, kind }: { readonly image: MetadataImage; readonly kind: ListedKind },
  brokers: BrokerLinks,
): Promise<readonly string[]> {
  const listed = await Promise.all(
    javaBrokers(image)
      .filter(isActiveBroker)
      .map(({ id }) => groupsOf(id, { kind, brokers })),
  )
  return [...new Set(listed.flat())]
}

async function groupsOf(
  broker: number,
  { kind, brokers }: { readonly kind: ListedKind; readonly brokers: BrokerLinks },
): Promise<string[]> {
  const connection = await brokers.to(broker)
  const version = connection.versionFor(ListGroupsApi.key, LIST_GROUPS)
  const { response } = await connection.send(ListGroupsApi, {}, { version })
  const { errorCode, groups } = response
  if (errorCode !== ErrorCode.NONE) throw new BrokerRefusal('ListGroups', broker, errorCode)
  return groups
    .filter(({ protocolType, groupType }) => isOf[kind]({ protocolType, type: groupType.toLowerCase() }))
    .map(({ groupId }) => groupId)
}
