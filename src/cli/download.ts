import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { CommandFailure } from './failure.ts'
import { draftOf } from './files.ts'

type Chunks = AsyncIterable<string> | Iterable<string>

/** Writes as fast as the other side reads. */
export async function write(to: Writable, chunks: Chunks): Promise<void> {
  for await (const chunk of chunks) if (!to.write(chunk)) await once(to, 'drain')
}

/** @throws CommandFailure about this file, not about the data directory */
export async function writeTo(path: string, chunks: Chunks): Promise<void> {
  try {
    await writeFile(path, chunks)
  } catch (error) {
    const { syscall, code } = error as { syscall?: string; code?: string }
    if (syscall === undefined) throw error
    throw new CommandFailure(`${path} cannot be written (${code}): name another file with --out`)
  }
}

/** Writes a file that is either complete or not there. */
async function writeFile(path: string, chunks: Chunks): Promise<void> {
  const draft = draftOf(path)
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  try {
    await once(file, 'open')
    await write(file, chunks)
    file.end()
    await once(file, 'finish')
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
