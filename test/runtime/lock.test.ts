import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  acquireLock,
  DataDirectoryUnusable,
  holderOf,
  isHeld,
  type Lock,
  LockHeld,
} from '../../src/runtime/lock.ts'

const holder = {
  pid: process.pid,
  host: 'here',
  startedAt: '2026-11-20T09:30:00.000Z',
  port: 8080,
  managementHost: '127.0.0.1',
  managementPort: 9090,
  version: 'dev',
}

let folder: string
let locks: Lock[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-lock-'))
  locks = []
})

afterEach(() => {
  for (const lock of locks) lock.release()
  rmSync(folder, { recursive: true })
})

const acquire = () => {
  const lock = acquireLock(folder, holder)
  locks.push(lock)
  return lock
}

/** Another process that holds the lock until it is ended. */
async function otherHolder() {
  const lockModule = resolve(import.meta.dir, '../../src/runtime/lock.ts')
  const code = `
    import { acquireLock } from ${JSON.stringify(lockModule)}
    const holder = { ...${JSON.stringify(holder)}, pid: process.pid, port: 4321 }
    globalThis.lock = acquireLock(${JSON.stringify(folder)}, holder)
    console.log('held')
    setInterval(() => {}, 1000)`
  const script = join(folder, 'holder.ts')
  writeFileSync(script, code)
  const child = Bun.spawn([process.execPath, script], { stdout: 'pipe', stderr: 'inherit' })
  await child.stdout.getReader().read()
  return child
}

test('nobody holds the lock of a new directory', () => {
  expect(isHeld(folder)).toBe(false)
  expect(isHeld(join(folder, 'nowhere'))).toBe(false)
})

test('a directory has one server, even within one process', () => {
  acquire()
  expect(isHeld(folder)).toBe(true)
  expect(acquire).toThrow(LockHeld)
  expect(isHeld(folder)).toBe(true)
})

test('asking whether the lock is held does not free it', () => {
  acquire()
  for (let i = 0; i < 5; i++) expect(isHeld(folder)).toBe(true)
})

test('a released lock is free at once, and says nothing of its last holder', () => {
  acquire().release()
  locks = []
  expect(isHeld(folder)).toBe(false)
  expect(holderOf(folder)).toBeNull()
  acquire()
})

test('a second process is refused, and told who holds it', async () => {
  const child = await otherHolder()
  try {
    expect(isHeld(folder)).toBe(true)
    expect(acquire).toThrow(
      `a server is already running on ${folder} (process ${child.pid} on here, port 4321, since 2026-11-20T09:30:00.000Z)`,
    )
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
})

test('the lock of a killed process is free at once', async () => {
  const child = await otherHolder()
  child.kill('SIGKILL')
  await child.exited
  expect(isHeld(folder)).toBe(false)
  acquire()
  expect(holderOf(folder)?.pid).toBe(process.pid)
})

test('a directory that cannot be made is a clear error', () => {
  writeFileSync(join(folder, 'file'), '')
  const inside = join(folder, 'file', 'data')
  expect(() => acquireLock(inside, holder)).toThrow(DataDirectoryUnusable)
  expect(() => acquireLock(inside, holder)).toThrow(
    `the data directory ${inside} cannot be written`,
  )
})
