/** The subject of a certificate as text, in the form (RFC 2253) in which Kafka names principals; used where a client shows a certificate. */
import { DerTag, type DerValue, derContent, derContents, derOid, derValue } from './der.ts'

/** Attributes that RFC 2253 has names for; others are written as numbers with their bytes. */
const KEYWORDS: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
}

/** Strings by tag, with their encoding. */
const STRINGS: Readonly<Record<number, (content: Buffer) => string>> = {
  [DerTag.UTF8_STRING]: content => content.toString('utf8'),
  // Printable, T61, IA5 and general strings.
  19: content => content.toString('latin1'),
  20: content => content.toString('latin1'),
  22: content => content.toString('latin1'),
  27: content => content.toString('latin1'),
  // BMP and universal strings.
  30: content => Buffer.from(content).swap16().toString('utf16le'),
  28: content =>
    String.fromCodePoint(...Array.from({ length: content.length / 4 }, (_, i) => content.readUInt32BE(i * 4))),
}

/** `CN=client,OU=unit,O=org`, the last part of the name first, as Java's X500Principal gives it. Throws DerError. */
export function subjectOf(certificate: Buffer): string {
  const [signed] = derContents(derValue(certificate), DerTag.SEQUENCE)
  const fields = derContents(signed, DerTag.SEQUENCE)
  // version [0], present from version 2 on; serial, algorithm, issuer, validity, subject.
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4]
  return derContents(subject, DerTag.SEQUENCE).reverse().map(relativeName).join(',')
}

const relativeName = (set: DerValue): string => derContents(set, DerTag.SET).map(attribute).join('+')

function attribute(pair: DerValue): string {
  const [type, value] = derContents(pair, DerTag.SEQUENCE)
  const oid = derOid(type)
  const keyword = KEYWORDS[oid]
  const text = value && STRINGS[value.tag]
  if (keyword === undefined || !value || !text) return `${keyword ?? oid}=#${value?.whole.toString('hex') ?? ''}`
  return `${keyword}=${escaped(text(derContent(value, value.tag)))}`
}

const escaped = (text: string): string =>
  text
    .replace(/[,=+<>#;"\\]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^[ \r]+|[ \r]+$/g, blanks => blanks.replace(/./gs, '\\$&'))
