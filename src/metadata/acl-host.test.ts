/** Tests of the host names that ACLs are compared with. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { aclHost } from './acl-host.ts'

test('addresses have the form that Java gives them', () => {
  const hosts = {
    '127.0.0.1': '127.0.0.1',
    '::ffff:10.1.2.3': '10.1.2.3',
    '::1': '0:0:0:0:0:0:0:1',
    '::': '0:0:0:0:0:0:0:0',
    '2001:db8::00ff:1': '2001:db8:0:0:0:0:ff:1',
    'fe80::a%eth0': 'fe80:0:0:0:0:0:0:a%eth0',
    '1:2:3:4:5:6:7:8': '1:2:3:4:5:6:7:8',
  }
  deepStrictEqual(Object.keys(hosts).map(aclHost), Object.values(hosts))
})
