// The files and passwords of a secured world: an authority, a host and a client certificate as PEM, stores of keytool, users; used by the security suites.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority } from '../../src/network/tls/fakes/test-certificates.ts'
import { runTool } from '../child-process.ts'

/** Whoever logs in as this one may do everything. */
export const ADMIN = { user: 'admin', password: 'admin-s3cret' } as const
/** Can log in, and may do nothing. */
export const GUEST = { user: 'guest', password: 'guest-s3cret' } as const
/** What no log and no answer may show. */
export const SECRETS = ['admin-s3cret', 'guest-s3cret', 'store-s3cret', 'BEGIN PRIVATE KEY'] as const

const STORE_PASSWORD = 'store-s3cret'

type Authority = ReturnType<typeof makeAuthority>

export class Credentials {
  readonly folder: string
  readonly #authority: Authority

  private constructor(folder: string, authority: Authority) {
    this.folder = folder
    this.#authority = authority
  }

  static async make(): Promise<Credentials> {
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-security-'))
    const made = new Credentials(folder, makeAuthority())
    const { authority, host, issue } = made.#authority
    const client = issue({
      name: [
        ['C', 'DE'],
        ['O', 'Lockstep'],
        ['CN', 'Mutual'],
      ],
    })
    await made.write('ca.pem', authority.certificate)
    await made.write('host.pem', host.key + host.certificate)
    await made.write('client.pem', client.certificate)
    await made.write('client-key.pem', client.key)
    await made.write('stranger-ca.pem', makeAuthority().authority.certificate)
    const stranger = makeAuthority().issue({ name: [['CN', 'Mutual']] })
    await made.write('stranger.pem', stranger.certificate)
    await made.write('stranger-key.pem', stranger.key)
    return made
  }

  file(name: string): string {
    return join(this.folder, name)
  }

  /** Appears whole, in the place of what was there. */
  async write(name: string, content: string): Promise<string> {
    const path = this.file(name)
    await writeFile(`${path}.new`, content)
    await rename(`${path}.new`, path)
    return path
  }

  /** Another key and another authority in the place of the host's. */
  async replaceHost(): Promise<void> {
    const { authority, host } = makeAuthority()
    await this.write('new-ca.pem', authority.certificate)
    await this.write('host.pem', host.key + host.certificate)
  }

  /** A PKCS12 key store for 127.0.0.1 and the trust store that goes with it, as keytool makes them. */
  async makeStores(): Promise<Record<'keyStore' | 'trustStore' | 'password', string>> {
    const [keyStore, trustStore, certificate] = [this.file('key.p12'), this.file('trust.p12'), this.file('stores.cer')]
    const shared = ['-alias', 'node', '-storetype', 'PKCS12', '-storepass', STORE_PASSWORD]
    const name = ['-dname', 'CN=stores', '-ext', 'san=ip:127.0.0.1', '-keyalg', 'EC', '-groupname', 'secp256r1']
    await keytool('-genkeypair', ...shared, '-keystore', keyStore, ...name)
    await keytool('-exportcert', ...shared, '-keystore', keyStore, '-file', certificate)
    await keytool('-importcert', '-noprompt', ...shared, '-keystore', trustStore, '-file', certificate)
    return { keyStore, trustStore, password: STORE_PASSWORD }
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

async function keytool(...args: string[]): Promise<void> {
  const { status, stdout, stderr } = await runTool('keytool', args, { timeoutMs: 120_000 })
  if (status !== 0) throw new Error(`keytool ${args[0]} ended with ${status}:\n${stdout}${stderr}`)
}
