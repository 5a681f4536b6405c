import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { Cairn } from './cairn.ts'

let cairn: Cairn
beforeEach(() => {
  cairn = new Cairn()
})
afterEach(() => cairn.close())

test('rebuild counts flows and events, one of them without a plural', async () => {
  await cairn.json(['org', 'create', 'Harbor'])
  writeFileSync(cairn.path('a.yaml'), 'key: welcome\n')
  await cairn.json(['flows', 'push', 'a.yaml'])
  expect(await cairn.run(['rebuild'])).toEqual({
    stdout: 'rebuilt 1 flow from 0 events: nothing changed\n',
    stderr: '',
    status: 0,
  })
  expect(await cairn.json(['rebuild'])).toEqual({ flows: 1, events: 0, changed: 0 })
})
