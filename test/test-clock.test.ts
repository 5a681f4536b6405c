import { expect, test } from 'bun:test'
import { join } from 'node:path'

const program = `
  import './test-clock.ts'
  const read = () => [Date.now(), +new Date(), Date.parse(Date()), +new Date(0), new Date() instanceof Date, new Date(0).constructor === Date]
  const before = Date.now()
  const worker = new Worker(URL.createObjectURL(new Blob(["import '" + process.cwd() + "/test-clock.ts'; postMessage(Date.now())"])), { env: process.env })
  worker.onmessage = ({ data }) => {
    console.log(JSON.stringify({ here: read(), before, worker: data, variable: process.env.CAIRN_TEST_NOW }))
    process.exit()
  }
`

const run = (CAIRN_TEST_NOW: string) =>
  Bun.spawnSync([process.execPath, '-e', program], {
    cwd: join(import.meta.dir, '../src'),
    env: { CAIRN_TEST_NOW },
  })

test('CAIRN_TEST_NOW gives a program and its threads another time, which goes on', () => {
  const { stdout } = run('2031-02-28T23:59:59Z')
  const { here, before, worker, variable } = JSON.parse(stdout.toString())
  const [now, date, text, epoch, isDate, isOfItself] = here
  const instant = Date.parse('2031-02-28T23:59:59Z')
  for (const read of [now, date, worker]) expect(read - instant).toBeWithin(0, 60_000)
  expect(text - instant).toBeWithin(0, 60_000)
  expect([epoch, isDate, isOfItself]).toEqual([0, true, true])
  expect(worker).toBeWithin(before, now + 1)
  expect(variable).toMatch(/^2031-02-28T23:59:59Z@\d+$/)
})

test('a wrong CAIRN_TEST_NOW ends the program with status 2 and says what to write', () => {
  const { exitCode, stderr } = run('tomorrow')
  expect(exitCode).toBe(2)
  expect(stderr.toString()).toContain('2026-12-31T23:59:00Z')
})
