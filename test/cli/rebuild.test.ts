import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { outcome } from '../../src/cli/operations.ts'
import { CommandLine } from '../support/command-line.ts'

let cairn: CommandLine
beforeEach(() => {
  cairn = new CommandLine()
})
afterEach(() => cairn.close())

test('rebuild counts flows and events, with a singular for one of them', async () => {
  await cairn.json(['org', 'create', 'Harbor'])
  writeFileSync(cairn.path('a.yaml'), 'key: welcome\nsteps: [{ key: hello, title: Hello }]\n')
  await cairn.json(['flows', 'push', 'a.yaml'])
  expect(await cairn.run(['rebuild'])).toEqual({
    stdout: 'rebuilt 1 flow from 0 events: nothing changed\n',
    stderr: '',
    status: 0,
  })
  expect(await cairn.json(['rebuild'])).toEqual({ flows: 1, events: 0, changed: 0 })
})

test('the outcome says how many flows changed', () => {
  expect(outcome({ flows: 3, events: 1, changed: 2 })).toBe(
    'rebuilt 3 flows from 1 event: 2 flows changed',
  )
  expect(outcome({ flows: 3, events: 9, changed: 1 })).toEndWith('from 9 events: 1 flow changed')
})

test('an error without a server is printed as it is, because there is no log', async () => {
  await cairn.json(['org', 'create', 'Harbor'])
  writeFileSync(cairn.path('cairn-data/erasures.jsonl'), 'damaged\n')
  const erase = ['person', 'erase', 'harbor', 'ada', '--yes']
  const damaged = await cairn.run(erase)
  expect([damaged.status, damaged.stderr]).toEqual([
    1,
    expect.stringContaining('erasures.jsonl is damaged in line 1'),
  ])
  rmSync(cairn.path('cairn-data/erasures.jsonl'))
  mkdirSync(cairn.path('cairn-data/erasures.jsonl'))
  expect((await cairn.run(erase)).stderr).toContain('EISDIR')
})
