import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { apiOf } from '../../scripts/support/binary.ts'
import { storyFlows, storyIds, tellStory } from './release-story.ts'

/**
 * Makes a past release write a small database, which the tests migrate from then on:
 *
 *   bun test/support/record-schema.ts COMMIT...
 *
 * The commit's own source runs with the packages that are installed here. What it wrote is kept as
 * test/fixtures/schemas/schema-N.db.gz, where N is its newest schema. It is recorded once, when a release
 * has a new schema. There is none for schema 5, which was never the newest of any commit.
 */

const root = resolve(import.meta.dir, '../..')
const fixtures = join(root, 'test/fixtures/schemas')

for (const commit of Bun.argv.slice(2)) await record(commit)

async function record(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-release-'))
  try {
    await Bun.$`git archive ${commit} src package.json tsconfig.json | tar x -C ${folder}`.cwd(root)
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    await write(folder)
    const file = join(folder, 'data/cairn.db')
    const schema = closed(file)
    const kept = join(fixtures, `schema-${schema}.db.gz`)
    writeFileSync(kept, gzipSync(readFileSync(file), { level: 9 }))
    console.log(`${commit} wrote schema ${schema}: ${kept}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Makes the release in a folder write the story into `data` there. */
async function write(folder: string): Promise<void> {
  const env = { ...process.env, CAIRN_DATA: join(folder, 'data'), CAIRN_RETENTION_DAYS: '3650' }
  const cairn = (...args: string[]) =>
    Bun.$`${process.execPath} ${join(folder, 'src/main.ts')} ${args}`.cwd(folder).env(env).quiet()
  const { snippetKey } = await cairn('org', 'create', 'Acme', '--json').json()
  const publish = async ({ name, text }: { name: string; text: string }) => {
    await Bun.write(join(folder, name), text)
    await cairn('flows', 'push', name)
    await cairn('flows', 'publish', 'tour')
  }
  const [first, second] = storyFlows
  await publish(first!)
  const server = Bun.spawn(
    [process.execPath, 'src/main.ts', 'serve', '--port', '0', '--management-port', '0'],
    { cwd: folder, env, stdout: 'ignore', stderr: 'pipe' },
  )
  try {
    const ask = apiOf({ url: await urlOf(server.stderr) }, snippetKey)
    const ids = await storyIds(ask)
    await publish(second!)
    await tellStory(ask, ids)
  } finally {
    server.kill('SIGTERM')
    await server.exited
  }
}

async function urlOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let said = ''
  for await (const chunk of stderr) {
    said += Buffer.from(chunk)
    const [, url] = /serving (\S+), management/.exec(said) ?? []
    if (url) return url
  }
  throw new Error(`The release does not serve: ${said}`)
}

/** Makes a database one file, and returns its schema. */
function closed(file: string): number {
  const database = new Database(file)
  database.run('pragma wal_checkpoint(truncate)')
  const { schema } = database
    .query<{ schema: number }, []>('select max(id) as schema from migrations')
    .get()!
  database.close()
  return schema
}
