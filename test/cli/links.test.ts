import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

/**
 * Somebody who may write to the folder that a command writes to can put a link there, to a file that only
 * the user who runs the command may write. Therefore no command follows such a link.
 */

const cairn = new CommandLine()
afterAll(() => cairn.close())

const text = 'not to be written\n'

beforeAll(async () => {
  await cairn.json(['org', 'create', 'Acme'])
  await Bun.write(cairn.path('tour.yaml'), 'key: tour\nsteps: [{ key: hello, title: Hello }]\n')
  expect((await cairn.run(['flows', 'push', 'tour.yaml'])).status).toBe(0)
})
beforeEach(() => writeFileSync(cairn.path('victim'), text))

/** `@` stands for a folder of the test's own. */
const commands: [command: string, link: string][] = [
  ['snippet write @/vendor', 'vendor/cairn.js'],
  ['snippet write @/vendor', 'vendor/cairn.d.ts'],
  ['flows pull --out @/flows --force', 'flows/tour.yaml'],
  ['flows pull --out @/flows', 'flows/tour.yaml'],
  ['flows pull --out @/flows --format json --force', 'flows/tour.json'],
  ['person export ada --out @/ada.json', 'ada.json'],
  ['backup @/copy.db', 'copy.db'],
  ['service install --root @ --binary /usr/bin/cairn', 'etc/systemd/system/cairn.service'],
]

test.each(commands)('%s does not follow a link at %s', async (command, link) => {
  for (const target of ['victim', 'missing']) {
    const own = mkdtempSync(cairn.path('own-'))
    const path = join(own, link)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(cairn.path(target), path)
    const ended = await cairn.run(command.replace('@', own).split(' '))
    expect(ended.stderr).toMatch(
      /is a symbolic link, which is not followed|exists already|\(EEXIST\)/,
    )
    expect(ended.status).toBe(1)
    expect(readFileSync(cairn.path('victim'), 'utf8')).toBe(text)
    expect(existsSync(cairn.path('missing'))).toBe(false)
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    // Nothing else is there either, not even a temporary file.
    expect(readdirSync(dirname(path))).toHaveLength(1)
  }
})

test('the files that belong beside a backup replace a link instead of following it', async () => {
  for (const end of ['sha256', 'erasures.jsonl']) {
    symlinkSync(cairn.path('victim'), cairn.path(`whole.db.${end}`))
  }
  await cairn.run(['person', 'erase', 'ada', '--org', 'acme', '--yes'])
  expect((await cairn.run(['backup', 'whole.db'])).status).toBe(0)
  expect(readFileSync(cairn.path('victim'), 'utf8')).toBe(text)
  expect(readFileSync(cairn.path('whole.db.sha256'), 'utf8')).toContain('whole.db')
  expect(readFileSync(cairn.path('whole.db.erasures.jsonl'), 'utf8')).toContain('erase')
})

test('a file that is replaced keeps its permissions', async () => {
  mkdirSync(cairn.path('rights'))
  const path = cairn.path('rights/tour.yaml')
  writeFileSync(path, 'key: other\n', { mode: 0o640 })
  expect((await cairn.run(['flows', 'pull', '--out', 'rights', '--force'])).status).toBe(0)
  expect(lstatSync(path).mode & 0o777).toBe(0o640)
  expect(readFileSync(path, 'utf8')).toContain('key: tour')
})
