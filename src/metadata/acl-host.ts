/** The address of a client in the form in which ACLs name hosts: Java's; used where handlers and REST ask the authorizer. */

const MAPPED = /^::ffff:(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i
const GROUPS = 8

/** IPv4 as it is, also where it came in IPv6 form; IPv6 as eight groups (`0:0:0:0:0:0:0:1`), with a zone if there is one. */
export function aclHost(address: string): string {
  if (!address.includes(':')) return address
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = '', zone] = address.split('%')
  const [head = '', tail] = bare.split('::')
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const zeros = new Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill('0')
  const groups = [...before, ...(tail === undefined ? [] : zeros), ...after].join(':')
  return zone === undefined ? groups : `${groups}%${zone}`
}

/** Without leading zeros. */
const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16).toString(16))
