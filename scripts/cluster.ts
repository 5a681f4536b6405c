/** What `scripts/cluster` runs until Ctrl-C: several nodes, what they need, and the demo's organisation. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { demoSite } from '../src/cli/demo/site.ts'
import { builtBinary } from './support/binary.ts'
import { Cluster, missingPackages } from './support/cluster.ts'
import { until } from './support/until.ts'

const usage = `usage: scripts/cluster [options]

Runs nodes of dist/cairn (built where it is older than its sources) over PostgreSQL with a synchronous
standby, Redis or Valkey, and HAProxy, all on this machine, with the demo's organisation and its month of
history. Ctrl-C stops all of it, and removes it unless it is kept.

  --nodes COUNT     how many nodes (default: 3)
  --port PORT       port of HAProxy (default: 8080)
  --site-port PORT  port of the demo's site (default: 8081)
  --keep DIR        keep data, logs and settings in DIR, and go on with what is there
  --help            this`

const log = (what: string) => console.error(`cairn: ${what}`)

function optionsOf(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        nodes: { type: 'string', default: '3' },
        port: { type: 'string', default: '8080' },
        'site-port': { type: 'string', default: '8081' },
        keep: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    const numberOf = (option: 'nodes' | 'port' | 'site-port', max: number) => {
      const number = Number(values[option])
      if (Number.isInteger(number) && number >= 1 && number <= max) return number
      throw new Error(`--${option} must be a number from 1 to ${max}, not '${values[option]}'`)
    }
    const sitePort = numberOf('site-port', 65_535)
    return { ...values, nodes: numberOf('nodes', 9), port: numberOf('port', 65_535), sitePort }
  } catch (error) {
    log(`${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

/** Fills the database with what `cairn demo` makes: in a data directory, which is then moved. */
async function moveDemo(cluster: Cluster, program: string): Promise<void> {
  const data = join(cluster.folder, 'demo')
  const output = Bun.file(join(cluster.folder, 'demo.log'))
  const ports = ['--port', '0', '--management-port', '0', '--site-port', '0']
  const demo = Bun.spawn([program, 'demo', '--data', data, ...ports], {
    env: {},
    stdout: output,
    stderr: output,
  })
  await until(async () => {
    if (demo.exitCode !== null) throw new Error(`the demo did not start: ${await output.text()}`)
    return (await output.text()).includes('Ctrl-C to stop')
  })
  demo.kill('SIGTERM')
  await demo.exited
  await cluster.succeeded(['move', '--data', data])
  rmSync(data, { recursive: true, force: true })
}

/** The snippet key of the organisation that was created first; null if there is none. */
async function snippetKeyIn({ postgres, databaseUrl }: Cluster): Promise<string | null> {
  const [isSetUp] = await postgres.ask(
    `select where to_regclass('cairn_rows') is not null`,
    databaseUrl,
  )
  if (!isSetUp) return null
  const keys = `select content ->> 'key' as key from cairn_rows
    where name = 'snippet_keys' and content ->> 'retired_at' is null order by cairn_rows.seq`
  const [first] = await postgres.ask<{ key: string | null }>(keys, databaseUrl)
  return first?.key ?? null
}

/** What somebody who is about to try it wants to know. */
function facts({ url, folder, nodes, postgres, standby, valkey }: Cluster, settings: string) {
  return [
    `  API            ${url}/api/v1, by HAProxy to each node in turn`,
    `  manual         ${url}/docs`,
    ...nodes.map(
      ({ name, url, managementUrl, child }) =>
        `  ${name.padEnd(13)}  ${url}, management at ${managementUrl}, process ${child.pid}`,
    ),
    `  PostgreSQL     127.0.0.1:${postgres.port}, and its standby at port ${standby!.port}`,
    `  Redis, Valkey  127.0.0.1:${valkey.port}`,
    `  logs           ${folder}/*.log and ${folder}/*/log`,
    `  settings       ${settings}, with the passwords, for the command line:`,
    `                 dist/cairn nodes --config ${settings}`,
  ]
}

async function run(cluster: Cluster, program: string, options: ReturnType<typeof optionsOf>) {
  const settings = join(cluster.folder, 'cairn.env')
  const all = { ...cluster.env, CAIRN_DATA: join(cluster.folder, 'node-1') }
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(settings, lines.join(''), { mode: 0o600 })
  if ((await snippetKeyIn(cluster)) === null) {
    log('filling the database with the demo')
    await moveDemo(cluster, program)
  }
  const snippetKey = (await snippetKeyIn(cluster))!
  log('starting the nodes')
  await cluster.serve(options.nodes, {}, options.port)
  cluster.supervise((name, how) => log(`${name} has ended (${how}), and is started again`))
  const { url } = cluster
  const fetch = demoSite({ cairnUrl: url, snippetKey })
  const site = Bun.serve({ hostname: '127.0.0.1', port: options.sitePort, fetch })
  const link = [
    ...['dashboard', 'link', '--role', 'operator', '--org', 'harbor', '--public-url', url],
    ...['--data', all.CAIRN_DATA],
  ]
  const dashboard = JSON.parse(await cluster.succeeded([...link, '--json'])) as { url: string }
  console.log(
    [
      ...facts(cluster, settings),
      `  dashboard      ${dashboard.url}`,
      '                 signs you in, once, within ten minutes',
      `  the site       http://127.0.0.1:${site.port}, where a tour begins`,
      `  snippet key    ${snippetKey}`,
      '\nCtrl-C stops all of it',
    ].join('\n'),
  )
}

const options = optionsOf(Bun.argv.slice(2))
if (options.help) {
  console.log(usage)
  process.exit(0)
}
const missing = missingPackages()
if (missing.length > 0) {
  log(`this needs programs that are not here (Debian: apt install ${missing.join(' ')})`)
  process.exit(1)
}
const stopped = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    log('stopping (once more ends it at once)')
    stopped.resolve()
    // Whatever still runs then ends with this process.
    process.on(signal, () => process.exit(1))
  })
}
const folder = options.keep ? resolve(options.keep) : mkdtempSync(join(tmpdir(), 'cairn-cluster-'))
mkdirSync(folder, { recursive: true })
// Root runs PostgreSQL as another user, who has to reach its own folder below.
if (!options.keep) chmodSync(folder, 0o711)
let cluster: Cluster | null = null
let status = 0
try {
  log('building where something has changed')
  const program = await builtBinary()
  log('starting PostgreSQL, its standby and Redis')
  cluster = await Cluster.open({ program, folder, isInEarnest: true })
  await Promise.race([run(cluster, program, options).then(() => stopped.promise), stopped.promise])
} catch (error) {
  log((error as Error).message)
  status = 1
} finally {
  await cluster?.close()
  if (!options.keep) rmSync(folder, { recursive: true, force: true })
}
process.exit(status)
