/** Subjects as text; the expected ones are what Java's X500Principal.getName() gives for the same certificates. */
import { equal, throws } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { DerError } from './der.ts'
import { subjectOf } from './distinguished-name.ts'
import { makeCertificate } from './fakes/test-certificates.ts'

test('names are turned round, special characters escaped, other attributes shown as bytes', () => {
  const { certificate } = makeCertificate({
    name: [
      ['C', 'DE'],
      ['O', ' leading, "x" #1;<>\\ ü€😀 '],
      ['OU', '#start'],
      ['EMAIL', 'a@b'],
      ['CN', 'x=y+z'],
    ],
  })
  equal(
    subjectOf(new X509Certificate(certificate).raw),
    String.raw`CN=x\=y\+z,1.2.840.113549.1.9.1=#0c03614062,OU=\#start,O=\ leading\, \"x\" \#1\;\<\>\\ ü€😀\ ,C=DE`,
  )
})

test('what is cut off is an error, not a wrong name', () => {
  const { raw } = new X509Certificate(makeCertificate({ name: [['CN', 'client']] }).certificate)
  equal(subjectOf(raw), 'CN=client')
  for (const length of [0, 1, 10, 60, raw.length - 1]) throws(() => subjectOf(raw.subarray(0, length)), DerError)
})
