import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finished, finished } from '../../scripts/support/finished.ts'
import { until } from '../../scripts/support/until.ts'
import { attempt } from '../../src/core/attempt.ts'
import { builtBinary, Workplace, withTour } from '../support/binary.ts'
import { prepared } from '../support/prepared.ts'

/** A command that a signal ends says what that leaves, and leaves nothing unfinished. */

const canTrace = process.platform === 'linux' && Bun.which('strace') !== null

/** A data directory with an organisation and a published flow. */
const withData = prepared(withTour)

let cairn: Workplace
beforeEach(() => {
  cairn = new Workplace()
})
afterEach(() => cairn.close())

/** Resolves once a process has something to do before SIGINT ends it (proc(5)). */
const catches = (pid: number) =>
  until(() => {
    const [, caught = ''] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
    return (BigInt(`0x${caught}`) & 2n) !== 0n
  })

/** Starts a command on a disk so slow that it can be interrupted in the middle. */
async function slowly(...args: string[]) {
  const delay = 'inject=fsync,fdatasync:delay_enter=1000000'
  const strace = [
    'strace',
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    delay,
  ]
  const child = Bun.spawn([...strace, await builtBinary(), ...args], {
    cwd: cairn.folder,
    env: {},
    stdout: 'pipe',
    stderr: 'pipe',
  })
  // The tracer first has other children, which try what it can do.
  const nameOf = (pid: number) =>
    attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '')
  const tasks = `/proc/${child.pid}/task/${child.pid}/children`
  const children = () => readFileSync(tasks, 'utf8').trim().split(' ').map(Number)
  const pid = (await until(() => children().find(pid => nameOf(pid) === 'cairn')))!
  await catches(pid)
  // The tracer complains where threads end together.
  const own = ({ stderr, ...rest }: Finished) => ({
    ...rest,
    stderr: stderr.replace(/^strace: .*\n/gm, ''),
  })
  return { pid, ended: finished(child).then(own) }
}

const partials = () =>
  [cairn.folder, cairn.dataDir].flatMap(folder =>
    readdirSync(folder).filter(name => name.includes('.partial') || name === 'server.json'),
  )

describe.skipIf(!canTrace)('SIGINT', () => {
  beforeEach(async () => {
    await withData(cairn)
  })

  test('leaves nothing of a backup', async () => {
    const { pid, ended } = await slowly('backup', 'a.db')
    await until(() => partials().length > 0)
    process.kill(pid, 'SIGINT')
    expect(await ended).toEqual({
      status: 130,
      stdout: '',
      stderr: 'cairn: interrupted: made no backup, and changed nothing\n',
    })
    expect(readdirSync(cairn.folder).sort()).toEqual(['acme.yaml', 'cairn-data'])
  })

  test('leaves nothing of a restore, and the database as it was', async () => {
    await cairn.json(['backup', 'a.db'])
    const before = readFileSync(join(cairn.dataDir, 'cairn.db'))
    const { pid, ended } = await slowly('restore', 'a.db')
    await until(() => partials().length > 0)
    process.kill(pid, 'SIGINT')
    expect(await ended).toEqual({
      status: 130,
      stdout: '',
      stderr: 'cairn: interrupted: restored nothing, and changed nothing\n',
    })
    expect(partials()).toEqual([])
    expect(readFileSync(join(cairn.dataDir, 'cairn.db')).equals(before)).toBe(true)
  })
})
