import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  makeSyncedDirectory,
  replaceSynced,
  syncDirectory,
} from '../../../../src/storage/sqlite/database/synced-files.ts'

/** `test/long/torture/powercut.test.ts` shows that synced files survive a power cut. */

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-synced-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('missing directories are made for their owner alone; existing ones are left as they are', () => {
  const inner = join(folder, 'a', 'b')
  makeSyncedDirectory(inner)
  makeSyncedDirectory(inner)
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700)
  expect(statSync(inner).mode & 0o777).toBe(0o700)
})

test('a directory that may not be read is no error, but a missing one is', () => {
  const directory = join(folder, 'unreadable')
  mkdirSync(directory, { mode: 0o300 })
  expect(() => syncDirectory(directory)).not.toThrow()
  expect(() => syncDirectory(join(folder, 'nowhere'))).toThrow('ENOENT')
})

test('a file is replaced as a whole, and a replacement that fails leaves nothing behind', () => {
  const file = join(folder, 'kept')
  replaceSynced(file, 'old')
  replaceSynced(file, 'new')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const directory = join(folder, 'directory')
  mkdirSync(directory)
  expect(() => replaceSynced(directory, 'new')).toThrow()
  expect(readdirSync(folder).sort()).toEqual(['directory', 'kept'])
})

test('if there is room for only a part of a text, the old one stays and the error is reported', () => {
  const file = join(folder, 'kept')
  replaceSynced(file, 'old')
  const source = JSON.stringify(
    join(import.meta.dir, '../../../../src/storage/sqlite/database/synced-files.ts'),
  )
  const script = `import { replaceSynced } from ${source}
    replaceSynced(${JSON.stringify(file)}, 'a'.repeat(200_000))`
  // As on a full disk, the kernel takes the bytes up to the limit and refuses the rest.
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" -e "$1"`
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', limited, process.execPath, script])
  expect(exitCode).toBe(1)
  expect(stderr.toString()).toContain('EFBIG')
  expect(readFileSync(file, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['kept'])
})
