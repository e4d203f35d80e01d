/** PEM texts as they stand in files and in properties, where line breaks may have become blanks. Used by the TLS material. */

export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`, ... */
  readonly label: string
  /** With the line breaks that OpenSSL wants. */
  readonly text: string
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g

export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map(([, label = '', content = '']) => {
    const { headers, body } = split(content)
    const lines = body.replaceAll(/\s+/g, '').match(/.{1,64}/g) ?? []
    const all = [`-----BEGIN ${label}-----`, ...headers, ...lines, `-----END ${label}-----`, '']
    return { label, text: all.join('\n') }
  })
}

/** Old encrypted keys have header lines (`Proc-Type`, `DEK-Info`) before an empty line. */
function split(content: string): { headers: string[]; body: string } {
  const found = /^\s*((?:[A-Za-z-]+: [^\n]*\n)+)\r?\n([\s\S]*)$/.exec(content)
  if (!found) return { headers: [], body: content }
  return { headers: [...(found[1] ?? '').split('\n').filter(Boolean), ''], body: found[2] ?? '' }
}

export const isCertificate = ({ label }: PemBlock): boolean => /^(X509 |TRUSTED )?CERTIFICATE$/.test(label)

export const isPrivateKey = ({ label }: PemBlock): boolean => label.endsWith('PRIVATE KEY')

/** The certificate as PEM. */
export const pemCertificate = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`
