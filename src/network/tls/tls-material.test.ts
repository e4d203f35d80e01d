/** Key stores and trust stores from properties: PEM in all its places, PKCS12 of keytool, and what is said when one cannot be used. */
import { equal, match, rejects, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encryptedKey, makeAuthority } from './fakes/test-certificates.ts'
import { readJks } from './jks.ts'
import { KeyStoreError, pkcs12Certificates } from './pkcs12.ts'
import { loadTlsMaterial } from './tls-material.ts'

/** Written by keytool of JDK 17, password secret1 (secret2 for the key in JKS): a key with its certificate, and the certificate as trusted. */
const KEYTOOL = {
  key: 'MIIEhgIBAzCCBDAGCSqGSIb3DQEHAaCCBCEEggQdMIIEGTCCASAGCSqGSIb3DQEHAaCCAREEggENMIIBCTCCAQUGCyqGSIb3DQEMCgECoIG9MIG6MGYGCSqGSIb3DQEFDTBZMDgGCSqGSIb3DQEFDDArBBTpMDTi/krL3T0haiWyi4ubU8qRVQICJxACASAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHdAh4z/mdZQKWxRZ0Mi1bUEUCK81s6LajkZqFvlkhkM57vRCKX3UR4xVNgV6DORCmddxTwho2iFU+tGgnpWN2DOUNF63lP89QIMNe/kxy/anCEoVONghbCoNFqsG/O/NMNvMTYwEQYJKoZIhvcNAQkUMQQeAgBhMCEGCSqGSIb3DQEJFTEUBBJUaW1lIDE3OTYwMDcwODg1MjEwggLxBgkqhkiG9w0BBwagggLiMIIC3gIBADCCAtcGCSqGSIb3DQEHATBmBgkqhkiG9w0BBQ0wWTA4BgkqhkiG9w0BBQwwKwQULkgl1u2znL8005aLJojlhB09hrQCAicQAgEgMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAd2peKIWg06Q477m1Dp7g6gIICYJ0hAgNke4qpVwxrcb95D+2XZb+o5KKQ4Uj4g9cRzG2Rma4xpSVmyb0M6kDfsE5QoPMDw9rFdxp7zb7fQ1W6vftf5KYDKgub3igfGBnXhseFtcsIfBlRlViYrs8Hd4yE5a9qHKPzi0yCPzibiP5A2pAH31q36S1D+CtCwEo6uS/jLtABhtZGnJ+MflwrlXtHjnEFOXpQPRCIpQytIJL43LQslscDVWtqaRThiC1JOYilyEImHBrbUi2RwkZrFlOBpbv3F0zAYK8XzcHERqyU1FTymWULGijPR/bfe50lHpnQS9a407w/yQu9X2bvnwwabqL4f4ZyY9yXK2NBI2N7ToKnBqIrrDv/TrWOTNUr15LrpC7zV6o9dbIYZy9yaaKEqisDb2Qv2zC9ukpO4jn5MPxBOF060RtjGgbRqxGEMDsD3HhdiEoMLYE+dT/QTW1B5yYztT3TJOs7822OYQsoUHJ36h8/polh0lbRQ8HpiRgvVr3hKpyPiiXF8fEMIPFwdHY3vhQPFt4yRhqYCMuJMrmbZ7dYj9v781ty2fT1Uu7nLU+QoDS0Wm0V8OQaBAgz6u5s1JARsl8IlpQKdj1ERnOAUcuV7kv+RMKXSkWR2DQ7kpZzeoZTDqHA9x9cehDCXNUkcX9xFaNx9+uWYLRTCn5BTfwNRbo4+tuMQINfe09d2Xdoi6wmz1l9T80CMoglgwPZ+b2drvkYS8xNCdCW1jzirBJTfxGp/AaEqOufuwkO5Pn5xbRiEGD7Fl+m838PnfNe/W8iP0pmOJWS/qSaVwBz9SDqNX5Po8V4//w0xsflME0wMTANBglghkgBZQMEAgEFAAQg3DdSd5TCdvbrOnwmG8mnBWCI7z0rQWzbwQ8e2XN2yEkEFLsjwpptrI5yHUrjgMuoHAsgO+aSAgInEA==',
  trust:
    'MIIDUgIBAzCCAvwGCSqGSIb3DQEHAaCCAu0EggLpMIIC5TCCAuEGCSqGSIb3DQEHBqCCAtIwggLOAgEAMIICxwYJKoZIhvcNAQcBMGYGCSqGSIb3DQEFDTBZMDgGCSqGSIb3DQEFDDArBBT5iJUQ+Ys/k3Bx8vZK4Kq46dubnAICJxACASAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEC0rap0LZzghNg9GQ+Wq9z6AggJQzSBlVzJSOuK39F6RSwpa7mFXfCyVCkFK4QEcjiVnB8pPmUBitvqWdca5ivFluaXxiCb6nQRuS83elEYAwZX4trutMu4tNW71io25+Tv1eAuZaVRbSq/Bf4DhClCpHUOpzSPJybuyFeOZbFhxIPf0QwAnjdOEphO77iD06dROaAtsRijbGeQFFFKsbMLuG6SpBu5gCdZ1ABAPjTU8Q5hIS1hHr1TND+bT6BELoIIRNjSSBSwmpJWrg8Q9DIPTA0emIYutIbCPzHc5nQps8YKRLGBVFt9HU0zMMI06cwpCYp6EYevGlkeNVEfYySyYd4VSDH19CbDkj9w1tnS3DK+9Y2ISrh/KY3tIcEBgwJHk9S461PFq6I4iiwUvXHX6ZZed+lMgDHP9WUO5jFFaUQgb03GQ4aQuGfZqdQtiY9m2XoxdcVxWSC0OKXeRSlaDlWIejEu8rVXz9RLusx4A4Vxt6ZSJwOi4cs+YlvtMZwsLOSalQk1jnrJS+AzVyWB9BwYGTTVyRlNBbrd2RRX4TpcqfvumH4CiUBNrMKTvLaUbFQnyGlR2nz9ki5dZWKioO8FPDr0XpHArIiqvWmjqwVV9kOBi0qSwUZeNY0qALucbueCHhIUXBvNHJjdrStw1PTdMHUC+npqAPhIgxlMuzOfEqOqD3VTMdDm8Kr/OYgwlibl2zKC/izKc+fGuQMiLfzSxfIQc5Y0fT18XmqTBmJzsDZfaBwIuAiFcC2KmnBdQMyQ2hoHgenr3pEXv7CrszWozS4lgOnPjT9Iv0YLhISUogjBNMDEwDQYJYIZIAWUDBAIBBQAEIHVR3/bc0gmzM9IPa1kWpiOTTOSE66N00Zav/qAwDeapBBTBZ5lgYUfY0b/Kbq6IZUt56N/drgICJxA=',
  keyJks:
    '/u3+7QAAAAIAAAABAAAAAQABYQAAAaIqoz28AAAAfzB9MA4GCisGAQQBKgIRAQEFAARrY0sQkZB97gYbIC53r3qD6AJS2sSpHnZPByN1H04caDFEHhL6EowNCuXwdmx6ZerOrpTE5Ws6mh7nvnhBzJh7EQu76kdNRh4+hvVJloXiYeHBry9Un0rdoYRCpJ+FAufTy0lMxp3VekK+kEcAAAABAAVYLjUwOQAAATYwggEyMIHZoAMCAQICCH3TJdVJvjSPMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMTA2prczAeFw0yNjExMzAwNDA3NTBaFw0zNjExMjcwNDA3NTBaMA4xDDAKBgNVBAMTA2prczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKAWqDNxHlymI96KVj7Vb3A3SYTjVmNMb1I5ASi5z9oXe0d9a6OUUKWgZU8prO4EGeB1wjwc+e0F37CmZdl4AEWjITAfMB0GA1UdDgQWBBRkEoinlXX/jfMuP36qhN+WdZu/ATAKBggqhkjOPQQDAgNIADBFAiB8eIBnWoc4i924ARAVnRA2W99NCgdKGnIzJZM6mvUSYAIhALvj7MyKtG+D75ZpXdBzOBcByEoaCFsFb5XKMYhF9Fh8B/zXYFyFDZoFNM3gHS7M0bQQJHE=',
  jks: '/u3+7QAAAAIAAAABAAAAAgACY2EAAAGiKl15xgAFWC41MDkAAAHtMIIB6TCCAY+gAwIBAgIIavdcroplgRAwCgYIKoZIzj0EAwIwaTELMAkGA1UEBhMCREUxEjAQBgkqhkiG9w0BCQEWA2FAYjEMMAoGA1UEChMDT3JnMQ8wDQYDVQQLEwZVbml0PTExJzAPBgoJkiaJk/IsZAEBEwE3MBQGA1UEAxMNVGVzdCAsIENsaWVudDAeFw0yNjExMzAwMjUxMjdaFw0zNjExMjcwMjUxMjdaMGkxCzAJBgNVBAYTAkRFMRIwEAYJKoZIhvcNAQkBFgNhQGIxDDAKBgNVBAoTA09yZzEPMA0GA1UECxMGVW5pdD0xMScwDwYKCZImiZPyLGQBARMBNzAUBgNVBAMTDVRlc3QgLCBDbGllbnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR2b4+HFpDz9o3lqUyXYQR2DlBaZdqvIlURhi8qgCJ6n8TnZ8HbcXY91kheUvPj6f3haoKAqCjlp+L2si2GE1wNoyEwHzAdBgNVHQ4EFgQUxaAfzVCBIodQWYtZ1HlNiWWOgzEwCgYIKoZIzj0EAwIDSAAwRQIgKTR6Zy7ECIPm6D6ozxhDjJK/vMgO3SrElO23lbg+ikkCIQDn9TkOeuYL8lDCy0TNCn69d0vgnRsTUTnjX8/FjC1B6SR0QgUpswXFXobHlo9/PFri4Kf5',
}

const load = (properties: Record<string, string>, need = { key: true }) =>
  loadTlsMaterial(name => properties[name], need)

async function folderOf(t: TestContext, files: Record<string, string | Buffer>): Promise<(name: string) => string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return name => join(folder, name)
}

test('PEM stands in properties, also with blanks for line breaks, with an encrypted key', async () => {
  const { authority, host } = makeAuthority()
  const oneLine = (text: string) => text.replaceAll('\n', ' ')
  const { options, files } = await load({
    'ssl.keystore.key': oneLine(encryptedKey(host, 'pass')),
    'ssl.key.password': 'pass',
    'ssl.keystore.certificate.chain': oneLine(host.certificate + authority.certificate),
    'ssl.truststore.certificates': oneLine(authority.certificate),
  })
  equal(files.length, 0)
  equal(options.cert, host.certificate + authority.certificate)
  equal(options.minVersion, 'TLSv1.2')
  equal(options.maxVersion, 'TLSv1.3')
})

test('PEM stands in files', async t => {
  const { authority, host } = makeAuthority()
  const path = await folderOf(t, { 'key.pem': host.key + host.certificate, 'ca.pem': authority.certificate })
  const { files } = await load({
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': path('key.pem'),
    'ssl.truststore.location': path('ca.pem'),
    'ssl.enabled.protocols': 'TLSv1.3',
    'ssl.cipher.suites': 'TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,ECDHE-RSA-AES256-GCM-SHA384',
  })
  equal(files.join(), [path('key.pem'), path('ca.pem')].join())
})

test('PKCS12 of keytool is read, also under the name JKS', async t => {
  const files = { key: Buffer.from(KEYTOOL.key, 'base64'), trust: Buffer.from(KEYTOOL.trust, 'base64') }
  const path = await folderOf(t, files)
  const properties = {
    'ssl.keystore.type': 'JKS',
    'ssl.keystore.location': path('key'),
    'ssl.keystore.password': 'secret1',
    'ssl.truststore.location': path('trust'),
    'ssl.truststore.password': 'secret1',
  }
  const { options } = await load(properties)
  match(String(options.ca), /BEGIN CERTIFICATE/)
  await rejects(load({ ...properties, 'ssl.keystore.password': 'hunter2' }), /password is wrong/)
  await rejects(load({ ...properties, 'ssl.truststore.password': 'hunter2' }), /its password is wrong/)
})

test('JKS is read too, with a password of its own for the key', async t => {
  const path = await folderOf(t, {
    key: Buffer.from(KEYTOOL.keyJks, 'base64'),
    trust: Buffer.from(KEYTOOL.jks, 'base64'),
  })
  const properties = {
    'ssl.keystore.location': path('key'),
    'ssl.keystore.password': 'secret1',
    'ssl.key.password': 'secret2',
    'ssl.truststore.location': path('trust'),
    'ssl.truststore.password': 'secret1',
  }
  const { options } = await load(properties)
  match(String(options.key), /BEGIN PRIVATE KEY/)
  match(String(options.cert), /BEGIN CERTIFICATE/)
  match(String(options.ca), /BEGIN CERTIFICATE/)
  await rejects(load({ ...properties, 'ssl.key.password': 'hunter2' }), /another password \(ssl.key.password\)/)
  await rejects(load({ ...properties, 'ssl.keystore.password': 'hunter2' }), /its password is wrong/)
  await rejects(
    load({ ...properties, 'ssl.truststore.password': 'hunter2' }),
    /ssl.truststore.location.*password is wrong/,
  )
})

test('a store that is damaged is refused, whatever it says of its sizes', () => {
  const file = Buffer.from(KEYTOOL.keyJks, 'base64')
  for (const length of [4, 10, 24, 200, file.length - 1])
    throws(() => readJks(file.subarray(0, length), 'secret1'), KeyStoreError)
  for (let at = 0; at < file.length; at += 7) {
    const changed = Buffer.from(file)
    changed[at] = (changed[at] ?? 0) ^ 0xff
    throws(() => readJks(changed, 'secret1'), KeyStoreError)
  }
  const p12 = Buffer.from(KEYTOOL.trust, 'base64')
  for (let length = 0; length < p12.length; length += 11)
    throws(() => pkcs12Certificates(p12.subarray(0, length), 'secret1'), KeyStoreError)
})

test('what cannot be used is named, with what to do, and without secrets', async t => {
  const { host } = makeAuthority()
  const other = makeAuthority().host
  const path = await folderOf(t, { jceks: Buffer.from('cececece00', 'hex'), text: 'no key', cert: host.certificate })
  const refused = async (properties: Record<string, string>, message: RegExp) =>
    rejects(load(properties), error => {
      match(String(error), message)
      return !String(error).includes('hunter2')
    })
  const chain = { 'ssl.keystore.certificate.chain': host.certificate }
  await refused({}, /ssl.keystore.location, or/)
  await refused({ 'ssl.keystore.location': path('jceks') }, /is a JCEKS file.*keytool -importkeystore/)
  await refused({ 'ssl.keystore.location': path('missing') }, /ssl.keystore.location: ENOENT/)
  await refused({ 'ssl.keystore.location': path('text'), 'ssl.keystore.type': 'PEM' }, /holds no PEM/)
  await refused({ 'ssl.keystore.location': path('text'), 'ssl.keystore.type': 'BCFKS' }, /BCFKS is not supported/)
  await refused({ 'ssl.keystore.location': path('cert') }, /one private key/)
  await refused({ 'ssl.keystore.location': path('text'), 'ssl.keystore.password': 'hunter2' }, /refused/)
  await refused(chain, /belong together/)
  await refused({ ...chain, 'ssl.keystore.key': other.key }, /not that of the key/)
  await refused(
    { ...chain, 'ssl.keystore.key': encryptedKey(host, 'x'), 'ssl.key.password': 'hunter2' },
    /password is wrong/,
  )
  await refused({ ...chain, 'ssl.keystore.key': encryptedKey(host, 'x') }, /password is wrong or missing/)
  const good = { ...chain, 'ssl.keystore.key': host.key }
  await refused({ ...good, 'ssl.truststore.certificates': 'none' }, /holds no certificate/)
  await refused({ ...good, 'ssl.enabled.protocols': 'TLSv9' }, /TLSv9/)
  await refused({ ...good, 'ssl.cipher.suites': 'TLS_NULL_WITH_NULL_NULL' }, /not known here/)
})
