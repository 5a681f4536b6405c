import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { constants as osConstants } from 'node:os'
import { until } from '../../scripts/support/until.ts'
import { attempt } from '../../src/core/attempt.ts'
import { builtBinary, type Server, Workplace } from '../support/binary.ts'

/**
 * A container's program is process 1 of its namespace. The system spares it every signal for which it has no
 * handler, so that a stop at a wrong moment would be lost.
 */

const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
const unshare = ['unshare', ...user, '--pid', '--fork', '--kill-child', '--mount-proc']
const canUnshare =
  process.platform === 'linux' &&
  attempt(() => Bun.spawnSync([...unshare, 'true'], { stderr: 'ignore' }).success, false)
if (!canUnshare) {
  console.warn(
    'cairn: unshare (util-linux) may not make a process namespace here: not tested is that process 1 of a container stops by SIGTERM and SIGINT at any moment',
  )
}

describe.skipIf(!canUnshare)('as process 1', () => {
  let outside: Workplace
  let inside: Workplace

  beforeEach(async () => {
    outside = new Workplace()
    const script = outside.path('process-one')
    await Bun.write(script, `#!/bin/sh\nexec ${unshare.join(' ')} ${await builtBinary()} "$@"\n`)
    await Bun.$`chmod +x ${script}`
    inside = new Workplace(async () => script, outside.folder)
  })
  afterEach(async () => {
    await inside.close()
    await outside.close()
  })

  /** The process that `unshare` has started. */
  const processOne = ({ pid }: { pid: number }) =>
    until(() => {
      const children = attempt(
        () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim(),
        '',
      )
      return Number(children.split(' ')[0])
    })

  const signal = async (child: { pid: number }, signal: NodeJS.Signals) =>
    process.kill(await processOne(child), signal)

  /** The exit status of a server that was told to stop; fails if it serves instead. */
  const stopped = ({ child, ready }: Server): Promise<number> =>
    Promise.race([child.exited, ready.then(() => Promise.reject(new Error('serves')))])

  const signals = ['SIGTERM', 'SIGINT'] as const

  test.each(signals)('%s ends a server that reads its settings', async name => {
    const settings = outside.path('settings')
    await Bun.$`mkfifo ${settings}`
    const server = await inside.start(['--config', settings])
    // Succeeds once somebody reads it, who then waits for the text.
    const write = constants.O_WRONLY | constants.O_NONBLOCK
    const text = await until(() => attempt(() => openSync(settings, write), null))
    await signal(server.child, name)
    closeSync(text!)
    // Stopped by the server that it has become by then, or by what is there before that.
    expect([0, 128 + osConstants.signals[name]]).toContain(await stopped(server))
    expect(server.stderr).toBe('')
  })

  test.each(signals)('%s stops a server that serves', async name => {
    const { child } = await inside.serve()
    await signal(child, name)
    expect(await child.exited).toBe(0)
  })
})
