import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { apiOf, builtBinary, type Server, Workplace } from '../../support/binary.ts'
import { damageIn } from '../../support/stored.ts'
import { storedNames } from '../load/stored.ts'
import { nameOf, Promises } from './promises.ts'
import { backupFolder, type History, type Sent } from './workload.ts'

/** What is wrong with a disk after a power cut. */

export const faultKinds = [
  'not whole',
  'lost',
  'twice',
  'never sent',
  'does not go on',
  'projections differ',
] as const

export interface Fault {
  kind: (typeof faultKinds)[number]
  /** The details, for whoever investigates. */
  what: string
}

/** What a database holds of what was sent, with how often each thing is there. */
function contentsOf(database: Database): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const rows = (sql: string) => database.query(sql).values() as [string | number, string][]
  const tables = rows("select name from sqlite_schema where type = 'table'").flat()
  if (!tables.includes('run_blocks')) return counts
  for (const [row, id] of rows('select id, public_id from organisations')) {
    add(`organisation ${id}`)
    for (const [kind, names] of Object.entries(storedNames(database, Number(row)).names)) {
      for (const name of names) add(`${kind} ${name}`)
    }
  }
  for (const [version] of rows('select version from flow_versions')) add(`version ${version}`)
  return counts
}

const isTokenOf = async (dataDir: string, token: string) => {
  const key = join(dataDir, 'session.key')
  if (!existsSync(key)) return false
  const secret = Buffer.from(readFileSync(key, 'utf8').trim(), 'hex')
  return jwtVerify(token, secret).then(
    () => true,
    () => false,
  )
}

/** The checksums of the backups that have their final names, each of which must be whole. */
async function backupsIn(folder: string, faults: Fault[]): Promise<Set<string>> {
  const sums = new Set<string>()
  if (!existsSync(folder)) return sums
  for (const name of readdirSync(folder).filter(name => /^cairn-.*\.db$/.test(name))) {
    const file = join(folder, name)
    const sum = new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
    sums.add(sum)
    const said = existsSync(`${file}.sha256`) ? readFileSync(`${file}.sha256`, 'utf8') : ''
    if (!said.startsWith(`${sum}  `)) {
      faults.push({
        kind: 'not whole',
        what: `the backup ${name}, of which its checksum is another`,
      })
    }
  }
  return sums
}

/** Opens the database as it was found, which replays its log; `root` is a copy of the recorded directory. */
export async function faultsIn(
  root: string,
  promises: Promises,
  sent: readonly Sent[],
): Promise<Fault[]> {
  const faults: Fault[] = []
  const dataDir = join(root, 'cairn-data')
  let contents = new Map<string, number>()
  try {
    const database = new Database(join(dataDir, 'cairn.db'), { readwrite: true, create: false })
    const damage = damageIn(database)
    if (damage !== null) faults.push({ kind: 'not whole', what: damage })
    contents = contentsOf(database)
    database.close()
  } catch (error) {
    const isThere = existsSync(join(dataDir, 'cairn.db'))
    if (isThere) faults.push({ kind: 'not whole', what: String(error) })
  }
  const backups = await backupsIn(join(root, backupFolder), faults)
  const losses = promises.databases.map(promised =>
    promised.map(nameOf).filter(name => !contents.has(name)),
  )
  const lost = losses.reduce((least, some) => (some.length < least.length ? some : least))
  for (const promised of promises.files) {
    const isKept =
      promised.what === 'backup'
        ? backups.has(promised.sha256)
        : promised.what === 'token' && (await isTokenOf(dataDir, promised.token))
    if (!isKept) lost.push(nameOf(promised).slice(0, 60))
  }
  for (const what of lost) faults.push({ kind: 'lost', what })
  const sendable = new Set(sent.flatMap(({ promised }) => promised.map(nameOf)))
  for (const [name, count] of contents) {
    if (count > 1) faults.push({ kind: 'twice', what: name })
    if (!/^(organisation|version)/.test(name) && !sendable.has(name)) {
      faults.push({ kind: 'never sent', what: name })
    }
  }
  return faults
}

/** Whether the executable goes on from there: a first start begins anew, and numbers match the ledger. */
export async function faultsGoingOn(root: string, isMade: boolean): Promise<Fault[]> {
  const args = isMade ? ['rebuild', '--json'] : ['org', 'create', 'Second', '--json']
  const { status, stdout, stderr } = await new Workplace(builtBinary, root).run(args)
  if (status !== 0) return [{ kind: 'does not go on', what: stderr }]
  const { changed = 0 } = JSON.parse(stdout) as { changed?: number }
  return changed === 0 ? [] : [{ kind: 'projections differ', what: stdout }]
}

/** Starts a server there and sends everything again: what was stored is a duplicate, the rest is new. */
export async function faultsResending(
  root: string,
  { sent, snippetKey }: Pick<History, 'sent' | 'snippetKey'>,
): Promise<Fault[]> {
  const batches = sent.filter(({ promised }) => promised[0]?.what === 'event')
  let server: Server | null = null
  try {
    server = await new Workplace(builtBinary, root).serve(['--log-level', 'warn'])
    const api = apiOf(server, snippetKey)
    for (const { path, body } of batches) {
      const response = await api('POST', path, body)
      if (!response.ok) return [{ kind: 'does not go on', what: await response.text() }]
    }
    await server.end()
  } catch (error) {
    return [{ kind: 'does not go on', what: String(error) }]
  } finally {
    server?.child.kill('SIGKILL')
  }
  const promises = new Promises()
  promises.add({ text: '', promised: batches.flatMap(({ promised }) => promised) })
  return faultsIn(root, promises, sent)
}
