// An issuer of tokens on loopback: a token endpoint for clients and the keys for servers; used by the security suites.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'

export class TokenIssuer {
  readonly #server: Server
  readonly #key: CryptoKey
  readonly #keys: object
  #refusing = false
  /** Tokens that were given out. */
  given = 0

  private constructor(server: Server, key: CryptoKey, keys: object) {
    this.#server = server
    this.#key = key
    this.#keys = keys
  }

  static async start(): Promise<TokenIssuer> {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'suite', alg: 'RS256', use: 'sig' }] }
    const server = createServer()
    const issuer = new TokenIssuer(server, privateKey, keys)
    server.on('request', async (request, response) => {
      request.resume()
      if (request.url === '/keys') response.end(JSON.stringify(issuer.#keys))
      else if (issuer.#refusing) response.writeHead(401).end()
      else response.end(JSON.stringify({ access_token: await issuer.token(nameOf(request.headers.authorization)) }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return issuer
  }

  get origin(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  }

  get tokenUrl(): string {
    return `${this.origin}/token`
  }

  get keysUrl(): string {
    return `${this.origin}/keys`
  }

  /** From now on nobody gets a token. */
  refuse(): void {
    this.#refusing = true
  }

  token(subject: string, seconds = 3600): Promise<string> {
    this.given++
    const signing = new SignJWT({ scope: 'kafka' }).setProtectedHeader({ alg: 'RS256', kid: 'suite' })
    const now = Math.floor(Date.now() / 1000)
    const claims = signing.setSubject(subject).setIssuer('suite').setAudience('kafka').setIssuedAt(now)
    return claims.setExpirationTime(now + seconds).sign(this.#key)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** The user of a Basic header. */
const nameOf = (header = ''): string =>
  Buffer.from(header.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')[0] ?? ''
