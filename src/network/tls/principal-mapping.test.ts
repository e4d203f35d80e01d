/** Kafka's rules from subjects of certificates to names. */
import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { MappingError, principalMapping } from './principal-mapping.ts'

const ORDERS = 'CN=Orders,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown'
const ADMIN = 'CN=adminUser,OU=Admin,O=Unknown,L=Unknown,ST=Unknown,C=Unknown'
const DOCUMENTED = [
  'RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/',
  'RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L',
  'RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L',
  'DEFAULT',
].join(',')

for (const [rules, subject, name] of [
  ['DEFAULT', ORDERS, ORDERS],
  ['', ORDERS, ORDERS],
  [DOCUMENTED, ORDERS, 'Orders'],
  [DOCUMENTED, ADMIN, 'adminuser@admin'],
  [DOCUMENTED, 'OU=JavaTeam, O=x, cn=Duke.J', 'duke.j'],
  [DOCUMENTED, 'OU=nobody', 'OU=nobody'],
  [' RULE:^CN=(.*?),.*$/$1/U , DEFAULT', ORDERS, 'ORDERS'],
  ['RULE:^CN=(.*?),OU=(.*?),.*$/$1.$2.$3/', ORDERS, 'Orders.ServiceUsers.$3'],
  ['RULE:^CN=(.*?),.*$/$12/', ORDERS, 'Orders2'],
  [String.raw`RULE:^cn=(.*?)\/(.*?),.*$/$2\/$1/`, 'cn=a/b,o=c', 'b/a'],
  // Java replaces the empty match behind the first one, too.
  ['RULE:.*/x/', ORDERS, 'xx'],
  ['RULE:CN=.*/fixed/', ORDERS, 'fixed'],
  [',, DEFAULT', ORDERS, ORDERS],
] as const)
  test(`"${rules}" makes ${name} of ${subject}`, () => equal(principalMapping(rules)(subject), name))

test('a rule applies to a whole subject, and none is an error', () => {
  throws(() => principalMapping('RULE:CN=Orders/$0/')(ORDERS), MappingError)
})

for (const rules of [
  'default',
  'DEFAUL',
  'DEFAULT/L',
  'RULE:CN=(.*)',
  'RULE:CN=(.*)/$1',
  'RULE:CN=(.*)/$1/X',
  'RULE:CN=(.*)/$1/L DEFAULT',
  'RULE:CN=((.*)/$1/',
])
  test(`"${rules}" cannot be read`, () => throws(() => principalMapping(rules), MappingError))
