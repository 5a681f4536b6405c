import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../../src/core/errors.ts'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../../src/core/flow/flow.ts'
import { mostFlows } from '../../../../src/modules/authoring/rules.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import {
  publishFlows,
  pushAndPublishFlows,
  pushFlows,
  withdrawFlows,
} from '../../../support/authoring.ts'
import { createOrganisation } from '../../../support/organisations.ts'

const now = 1_790_000_000_000
let folder: string
let database: Database
let org: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-flows-'))
  database = openForWriting(folder)
  migrate(database, now)
  org = createOrganisation(database, { name: 'Harbor' }, now).organisation.row
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const tour = (...steps: string[]) => definition({ key: 'tour', steps: steps.map(stepOf) })
const stepOf = (key: string) => ({ key, title: key })
const definition = (flow: object): FlowDefinition => {
  const { flows, problems } = readFlowFile(JSON.stringify(flow), { format: 'json' })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return flows[0]!
}

const push = (...flows: FlowDefinition[]) => pushFlows(database, org, flows, now)
const publish = (...keys: string[]) => publishFlows(database, org, keys, () => now)
const outcomes = (changes: { outcome: string }[]) => changes.map(({ outcome }) => outcome)

const changeCount = () =>
  database.query<{ n: number }, []>('select count(*) as n from catalogue_changes').get()?.n

describe('publishing', () => {
  describe('refuses what validate calls an error, all flows or none', () => {
    test('in a withdrawn version that would be shown again', () => {
      push(tour('a'))
      publish('tour')
      const kind = "json_set(body, '$.steps[0].kind', 'tooltip')"
      database.run(`update flow_versions set body = ${kind}`)
      expect(outcomes(publish('tour'))).toEqual(['already published'])
      withdrawFlows(database, org, ['tour'], 'draft', now)
      expect(() => publish('tour')).toThrow(
        expect.objectContaining({
          details: [expect.objectContaining({ path: '/tour/steps/0/target' })],
        }),
      )
    })
  })
})

describe('an organisation has at most as many flows as its pages can be expected to load', () => {
  const many = (count: number, title = 'T') =>
    Array.from({ length: count }, (_, i) => ({
      ...tour('a', 'b', 'c', 'd', 'e'),
      key: `flow-${i}`,
      name: title,
    }))
  const refused = (count: number) =>
    new AppError(
      'too_many_flows',
      `The organisation would have ${count} flows that are not archived, and ${mostFlows} are the most: archive some, or leave some out`,
    )

  test('pushing more than that at once is refused before anybody has to wait', () => {
    const flows = many(mostFlows + 1)
    database.run('begin immediate')
    const second = openForWriting(folder)
    try {
      expect(() => pushFlows(second, org, flows, now)).toThrow(refused(mostFlows + 1))
    } finally {
      second.close()
      database.run('rollback')
    }
  })

  test('statements are prepared once, however many flows there are, because others wait to write', () => {
    const prepare = spyOn(database, 'prepare')
    // The first time prepares all statements that the connection keeps.
    const counts = [1, 1, 100].map(count => {
      prepare.mockClear()
      for (const title of ['Old', 'New']) {
        const flows = pushAndPublishFlows(database, org, many(count, title), () => now)
        expect(flows).toHaveLength(count)
      }
      return prepare.mock.calls.length
    })
    expect(counts[1]).toBeLessThan(counts[0]!)
    expect(counts[2]).toBe(counts[1]!)
  })
})

describe('what other processes are told', () => {
  test('every change that callers can see is announced, and no other', () => {
    let count = changeCount()!
    const announced = (work: () => unknown) => {
      work()
      const before = count
      count = changeCount()!
      return count - before
    }
    expect(announced(() => push(tour('a')))).toBe(1)
    expect(announced(() => push(tour('a')))).toBe(0)
    expect(announced(() => publish('tour'))).toBe(1)
    expect(announced(() => publish('tour'))).toBe(0)
    expect(announced(() => withdrawFlows(database, org, ['tour'], 'archived', now))).toBe(1)
    expect(announced(() => withdrawFlows(database, org, ['tour'], 'archived', now))).toBe(0)
  })
})
