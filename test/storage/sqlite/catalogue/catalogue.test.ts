import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import { StoredCatalogue } from '../../../../src/storage/sqlite/catalogue/catalogue.ts'
import { openForReading, openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { publishFlows, pushFlows, withdrawFlows } from '../../../support/authoring.ts'
import { createOrganisation, rotateKey } from '../../../support/organisations.ts'

const now = 1_790_000_000_000
let folder: string
let writing: Database
let reading: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-catalogue-'))
  writing = openForWriting(folder)
  migrate(writing)
  reading = openForReading(folder)
})

afterEach(() => {
  reading.close()
  writing.close()
  rmSync(folder, { recursive: true })
})

/** An organisation with a published tour of some steps. */
function organisation(name: string, ...steps: string[]) {
  const { organisation, snippetKey } = createOrganisation(writing, { name }, now)
  if (steps.length > 0) publish(organisation.row, 'tour', ...steps)
  return { row: organisation.row, key: snippetKey }
}

function publish(orgRow: number, key: string, ...steps: string[]) {
  const flow = { key, steps: steps.map(step => ({ key: step, title: step })) }
  const { flows } = readFlowFile(JSON.stringify(flow), { format: 'json' })
  pushFlows(writing, orgRow, flows, now)
  publishFlows(writing, orgRow, [key], () => now)
}

/** The flows that callers of an organisation get. */
function listed(catalogue: StoredCatalogue, key: string) {
  const known = catalogue.snippetKey(key)
  if (!known) throw new Error('The key is unknown')
  const { flows } = JSON.parse(catalogue.publishedFlows(known.organisation).text)
  return flows as { id: string; key: string; version: number; steps: { id: string }[] }[]
}

test('the cache holds no more than there is room for, and still answers for all organisations', () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map(name => organisation(name, 'first'))
  const catalogue = new StoredCatalogue(reading, 6_000)
  for (let round = 0; round < 3; round++) {
    for (const { row, key } of all) {
      const [flow] = listed(catalogue, key)
      expect(catalogue.snippetKey(key)?.organisation.ref).toBe(row)
      expect(catalogue.flow(flow?.id ?? '')?.organisation.ref).toBe(row)
      expect(catalogue.step(flow?.steps[0]?.id ?? '')?.flow.organisation.ref).toBe(row)
      expect(catalogue.size).toBeLessThan(all.length)
    }
  }
})

test('changes by another process are seen after a refresh, whatever was read before', () => {
  const { row, key } = organisation('a', 'first')
  const catalogue = new StoredCatalogue(reading)
  const [before] = listed(catalogue, key)
  const flow = catalogue.flow(before?.id ?? '')
  publish(row, 'tour', 'first', 'second')
  publish(row, 'another', 'only')
  const { snippetKey: newer } = rotateKey(writing, row, { now, graceMs: 0 })
  // A caller that began before goes on with what was published then.
  expect(flow?.latest?.version).toBe(1)
  expect(flow?.latest?.steps).toHaveLength(1)
  catalogue.refresh()
  expect(listed(catalogue, newer).map(({ key, version }) => [key, version])).toEqual([
    ['another', 1],
    ['tour', 2],
  ])
  expect(catalogue.snippetKey(key)?.endsAt).toBe(now)
  withdrawFlows(writing, row, ['tour'], 'archived', now)
  catalogue.refresh()
  expect(listed(catalogue, newer).map(({ key }) => key)).toEqual(['another'])
})

test('unknown ids leave nothing in the cache', () => {
  organisation('a', 'first')
  const catalogue = new StoredCatalogue(reading)
  for (let i = 0; i < 100; i++) {
    expect(catalogue.snippetKey(`${i}`.padStart(32, '0'))).toBeNull()
    expect(catalogue.flow(`flow_${i}`)).toBeNull()
    expect(catalogue.step(`step_${i}`)).toBeNull()
    expect(catalogue.item(`item_${i}`)).toBeNull()
  }
  expect(catalogue.size).toBe(0)
})
