import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  addToErasures,
  ErasuresUnreadable,
  erasuresFile,
  type ListedErasure,
  listedErasures,
} from '../../../../src/storage/sqlite/erasure/erasure-list.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-list-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const key = Buffer.alloc(32, 7).toString('base64')

const line = (person: number, minute: number, action: ListedErasure['action'] = 'erase') => ({
  action,
  at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  org: 'org_a',
  key,
  person: person.toString(16).padStart(32, '0'),
})

test('a list is for its owner alone, and empty if nobody was erased', () => {
  expect(listedErasures(folder)).toEqual([])
  addToErasures(folder, [line(1, 0)])
  expect(statSync(erasuresFile(folder)).mode & 0o777).toBe(0o600)
  expect(listedErasures(folder)).toEqual([line(1, 0)])
})

test('the latest line of a person counts, in whatever order the lines of two lists are merged', () => {
  const lines = fc.uniqueArray(
    fc.record({
      person: fc.nat({ max: 3 }),
      minute: fc.nat({ max: 50 }),
      action: fc.constantFrom('erase' as const, 'allow' as const),
    }),
    { selector: ({ minute }) => minute },
  )
  const shuffled = lines.chain(all =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  )
  fc.assert(
    fc.property(shuffled, ([all, inOtherOrder]) => {
      const written = (some: typeof all) => {
        rmSync(erasuresFile(folder), { force: true })
        addToErasures(
          folder,
          some.map(({ person, minute, action }) => line(person, minute, action)),
        )
        const listed = listedErasures(folder)
        return listed.toSorted((a, b) => (a.person < b.person ? -1 : 1))
      }
      expect(written(inOtherOrder)).toEqual(written(all))
    }),
    { numRuns: 50 },
  )
})

test('a line that a power cut tore off is ignored, and the next one is a line of its own', () => {
  addToErasures(folder, [line(1, 0)])
  appendFileSync(erasuresFile(folder), JSON.stringify(line(2, 1)).slice(0, 40))
  expect(listedErasures(folder)).toEqual([line(1, 0)])
  addToErasures(folder, [line(3, 2)])
  expect(listedErasures(folder)).toEqual([line(1, 0), line(3, 2)])
  expect(readFileSync(erasuresFile(folder), 'utf8').split('\n')).toHaveLength(3)
})

test('a damaged line is rejected with its number', () => {
  for (const damage of ['{', '{}', JSON.stringify({ ...line(1, 0), key: 'short' })]) {
    writeFileSync(erasuresFile(folder), `${JSON.stringify(line(1, 0))}\n${damage}\n`)
    expect(() => listedErasures(folder)).toThrow(ErasuresUnreadable)
    expect(() => listedErasures(folder)).toThrow('in line 2')
  }
})
