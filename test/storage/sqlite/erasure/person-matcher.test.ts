import { expect, test } from 'bun:test'
import {
  hashedPeople,
  hashOfPerson,
} from '../../../../src/storage/sqlite/erasure/person-matcher.ts'

const key = Buffer.from('a key of thirty-two bytes, no le').toString('base64')

test('an erased person is distinguished from others of all organisations, however many come in between', () => {
  const erased = new Map([[key, new Set([hashOfPerson(key, 'org_a', 'uada')])]])
  const answers = new Map<string, boolean>()
  const acme = hashedPeople('org_a', erased, answers)
  const globex = hashedPeople('org_b', erased, answers)
  const matches = () => [acme('uada'), acme('aada'), globex('uada')]
  expect(matches()).toEqual([true, false, false])
  for (let i = 0; i < 40_000; i++) expect(acme(`uuser-${i}`)).toBe(false)
  expect(matches()).toEqual([true, false, false])
})
