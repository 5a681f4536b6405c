import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Workplace, withTour } from '../support/binary.ts'
import { Owner } from '../support/owner.ts'

/** Root's commands on a data directory of another user, as `cairn service install` makes one. */

const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null

let cairn: Workplace
let owner: Owner
beforeEach(async () => {
  cairn = new Workplace()
  owner = await Owner.of(cairn)
  mkdirSync(cairn.dataDir, { mode: 0o700 })
  owner.takes(cairn.dataDir)
})
afterEach(() => cairn.close())

/** Runs a command as root, which must succeed. */
async function asRoot(...args: string[]): Promise<void> {
  const { status, stderr } = await cairn.run(args)
  expect([args.join(' '), status, status === 0 ? '' : stderr]).toEqual([args.join(' '), 0, ''])
}

/** What is in the data directory, at any depth, and is not its owner's. */
const foreign = () =>
  readdirSync(cairn.dataDir, { recursive: true })
    .map(String)
    // The next server makes it anew.
    .filter(name => name !== 'cairn.sock')
    .filter(name => lstatSync(join(cairn.dataDir, name)).uid !== lstatSync(cairn.dataDir).uid)

test.skipIf(!isRoot)(
  'a directory of another user is refused with both users and the remedy',
  async () => {
    mkdirSync(cairn.path('roots'), { mode: 0o755 })
    for (const args of [['serve'], ['org', 'create', 'Acme']]) {
      const { status, stderr } = await owner.run([...args, '--data', 'roots'])
      expect([status, stderr]).toEqual([
        1,
        'cairn: the data directory roots cannot be written to (EACCES): it belongs to user 0, and this is user 65534: as root, run "chown -R 65534" on it, or choose another with --data\n',
      ])
    }
  },
)

describe.skipIf(!isRoot)('what root makes in the data directory of another user', () => {
  test('is that user’s, whichever command makes it', async () => {
    await asRoot('org', 'create', 'Acme')
    await asRoot('token', 'issue')
    expect(readdirSync(cairn.dataDir).sort()).toEqual(
      expect.arrayContaining(['cairn.db', 'server.lock', 'session.key']),
    )
    await asRoot('person', 'erase', 'ada', '--org', 'acme', '--yes')
    await asRoot('rebuild')
    await asRoot('compact')
    await asRoot('backup', 'roots/')
    const [backup = ''] = readdirSync(cairn.path('roots')).sort()
    await asRoot('restore', `roots/${backup}`)
    expect(foreign()).toEqual([])
    // A backup in a directory of root's is root's.
    expect(lstatSync(cairn.path(`roots/${backup}`)).uid).toBe(0)
    expect((await owner.run(['org', 'list'])).stdout).toContain('acme')
    expect((await owner.run(['backup', 'owner.db'])).status).toBe(0)
    expect((await owner.run(['rebuild'])).status).toBe(0)
  })

  test('is that user’s if a server runs as root, however it ends', async () => {
    await withTour(cairn)
    const server = await cairn.serve()
    await asRoot('backup', 'root.db')
    server.child.kill('SIGKILL')
    await server.child.exited
    expect(readdirSync(join(cairn.dataDir, 'snippet')).length).toBeGreaterThan(0)
    expect(foreign()).toEqual([])
  })
})
