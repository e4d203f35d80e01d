/** Applies the records about ACLs, SCRAM credentials, delegation tokens and client quotas (10, 11, 14, 18, 19, 22, 26) to a copy; used by the metadata editor. */
import type { Uuid } from '../core/uuid.ts'
import type { DelegationTokenRecord } from '../protocol/metadata-records/10-delegation-token.ts'
import type { UserScramCredentialRecord } from '../protocol/metadata-records/11-user-scram-credential.ts'
import type { ClientQuotaRecord } from '../protocol/metadata-records/14-client-quota.ts'
import type { AccessControlEntryRecord } from '../protocol/metadata-records/18-access-control-entry.ts'
import type { RemoveUserScramCredentialRecord } from '../protocol/metadata-records/22-remove-user-scram-credential.ts'
import type { AclImage } from './acl.ts'
import type { AclIndexEditor } from './acl-index.ts'
import { quotaEntityKey } from './client-quotas.ts'
import {
  type ClientQuotaImage,
  type DelegationTokenImage,
  type MetadataImage,
  type ScramCredentialImage,
  scramCredentialKey,
} from './metadata-image.ts'
import type { PersistentMapEditor } from './persistent-map.ts'

export class SecurityChanges {
  readonly #base: MetadataImage
  #acls: { readonly byId: PersistentMapEditor<Uuid, AclImage>; readonly index: AclIndexEditor } | undefined
  #scram: Map<string, ScramCredentialImage> | undefined
  #quotas: Map<string, ClientQuotaImage> | undefined
  #tokens: Map<string, DelegationTokenImage> | undefined

  constructor(base: MetadataImage) {
    this.#base = base
  }

  addAcl(record: AccessControlEntryRecord): void {
    this.removeAcl(record.id)
    const { byId, index } = this.#editAcls()
    byId.set(record.id, record)
    index.add(record)
  }

  removeAcl(id: Uuid): void {
    const { byId, index } = this.#editAcls()
    const acl = byId.get(id)
    if (!acl) return
    byId.delete(id)
    index.remove(acl)
  }

  scramCredential(record: UserScramCredentialRecord): void {
    this.#scram ??= new Map(this.#base.scramCredentials)
    this.#scram.set(scramCredentialKey(record.name, record.mechanism), {
      user: record.name,
      mechanism: record.mechanism,
      // The bytes are views of a whole batch that the image must not keep alive.
      salt: Buffer.from(record.salt),
      storedKey: Buffer.from(record.storedKey),
      serverKey: Buffer.from(record.serverKey),
      iterations: record.iterations,
    })
  }

  removeScramCredential(record: RemoveUserScramCredentialRecord): void {
    this.#scram ??= new Map(this.#base.scramCredentials)
    this.#scram.delete(scramCredentialKey(record.name, record.mechanism))
  }

  clientQuota(record: ClientQuotaRecord): void {
    this.#quotas ??= new Map(this.#base.clientQuotas)
    const entity = record.entity.map(({ entityType: type, entityName: name }) => ({ type, name }))
    const key = quotaEntityKey(entity)
    const values = new Map(this.#quotas.get(key)?.values)
    if (record.remove) values.delete(record.key)
    else values.set(record.key, record.value)
    if (values.size > 0) this.#quotas.set(key, { entity, values })
    else this.#quotas.delete(key)
  }

  delegationToken(record: DelegationTokenRecord): void {
    this.#tokens ??= new Map(this.#base.delegationTokens)
    this.#tokens.set(record.tokenId, record)
  }

  removeDelegationToken(tokenId: string): void {
    this.#tokens ??= new Map(this.#base.delegationTokens)
    this.#tokens.delete(tokenId)
  }

  finish(): Pick<MetadataImage, 'acls' | 'aclIndex' | 'scramCredentials' | 'clientQuotas' | 'delegationTokens'> {
    return {
      acls: this.#acls?.byId.finish() ?? this.#base.acls,
      aclIndex: this.#acls?.index.finish() ?? this.#base.aclIndex,
      scramCredentials: this.#scram ?? this.#base.scramCredentials,
      clientQuotas: this.#quotas ?? this.#base.clientQuotas,
      delegationTokens: this.#tokens ?? this.#base.delegationTokens,
    }
  }

  #editAcls() {
    this.#acls ??= { byId: this.#base.acls.edit(), index: this.#base.aclIndex.edit() }
    return this.#acls
  }
}
