import { heapSize } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { WarmRuns } from '../../../../src/storage/sqlite/runs/warm-runs.ts'
import { storedRun } from './stored-run.ts'

const mib = 2 ** 20

test('a run that is kept does not keep the message of its events in memory', () => {
  const warm = new WarmRuns()
  Bun.gc(true)
  const before = heapSize()
  const messages = 64
  for (let i = 0; i < messages; i++) {
    const message = `${i} somebody-with-a-long-name `.padEnd(mib, 'x')
    const [, name = ''] = message.split(' ')
    warm.keep(storedRun(`r${i}`, { least_user_id: name, least_anonymous_id: name }))
  }
  Bun.gc(true)
  expect(heapSize() - before).toBeLessThan((messages / 2) * mib)
  expect(warm.get(1, 1, 'r3')!.least_user_id).toBe('somebody-with-a-long-name')
})

test('a run that is kept belongs to one organisation, and is forgotten by its key', () => {
  const warm = new WarmRuns()
  warm.keep(storedRun('r1'))
  expect(warm.get(2, 1, 'r1')).toBe(null)
  expect(warm.get(1, 2, 'r1')).toBe(null)
  expect(warm.get(1, 1, 'r1')!.run_key).toBe('r1')
  warm.forget(storedRun('r1'))
  expect(warm.get(1, 1, 'r1')).toBe(null)
})
