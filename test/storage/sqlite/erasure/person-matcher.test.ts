import { expect, test } from 'bun:test'
import {
  hashedPeople,
  hashOfPerson,
  MatchMemory,
} from '../../../../src/storage/sqlite/erasure/person-matcher.ts'

const key = Buffer.from('a key of thirty-two bytes, no le').toString('base64')

test('an erased person is distinguished from others of all organisations, however many come in between', () => {
  const erased = new Map([[key, new Set([hashOfPerson(key, 'org_a', 'uada')])]])
  const answers = new MatchMemory()
  const acme = hashedPeople('org_a', erased, answers)
  const globex = hashedPeople('org_b', erased, answers)
  const told = () => [acme.isUser('ada'), acme.isAnonymous('ada'), globex.isUser('ada')]
  expect(told()).toEqual([true, false, false])
  for (let i = 0; i < 40_000; i++) expect(acme.isUser(`user-${i}`)).toBe(false)
  expect(told()).toEqual([true, false, false])
})
