/** What `scripts/cluster` runs until Ctrl-C: several nodes, what they need, and the demo's organisation. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
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
  --empty           no organisation: only the tables are made
  --help            this`

const say = (what: string) => console.error(`cairn: ${what}`)

/** Says what was wrong on the command line, and ends. */
function refuse(what: string): never {
  console.error(`cairn: ${what}\n${usage}`)
  process.exit(2)
}

/** Reads an option's value: a whole number in a range. */
function numberOf(option: string, text: string, least: number, most: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  return refuse(`--${option} must be a number, ${least} to ${most}, not '${text}'`)
}

function askedFor() {
  try {
    const { values } = parseArgs({
      args: Bun.argv.slice(2),
      options: {
        nodes: { type: 'string', default: '3' },
        port: { type: 'string', default: '8080' },
        'site-port': { type: 'string', default: '8081' },
        keep: { type: 'string' },
        empty: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    return {
      nodes: numberOf('nodes', values.nodes, 1, 9),
      port: numberOf('port', values.port, 1, 65_535),
      sitePort: numberOf('site-port', values['site-port'], 1, 65_535),
      keep: values.keep,
      isEmpty: values.empty,
    }
  } catch (error) {
    return refuse((error as Error).message)
  }
}

/** Fills the database with what `cairn demo` makes: in a data directory, which is then moved. */
async function moveDemo(cluster: Cluster, program: string): Promise<void> {
  const data = join(cluster.folder, 'demo')
  const ports = ['--port', '0', '--management-port', '0', '--site-port', '0']
  const log = join(cluster.folder, 'demo.log')
  const demo = Bun.spawn([program, 'demo', '--data', data, ...ports], {
    ...{ env: {}, stdout: Bun.file(log), stderr: Bun.file(log) },
  })
  const said = () => Bun.file(log).text()
  const isDone = async () =>
    demo.exitCode !== null || (await said()).includes('Ctrl-C stops the demo')
  await until(isDone, Boolean, 300_000)
  if (demo.exitCode !== null) throw new Error(`the demo did not start: ${await said()}`)
  demo.kill('SIGTERM')
  await demo.exited
  await cluster.succeeded(['move', '--data', data])
  for (const path of [data, log]) rmSync(path, { recursive: true, force: true })
}

/** The snippet key of the organisation that was created first; null if there is none. */
async function snippetKeyIn({ postgres, databaseUrl }: Cluster): Promise<string | null> {
  const keys = 'select key from snippet_keys where retired_at is null order by org_id, created_at'
  const [first] = await postgres.ask<{ key: string }>(keys, databaseUrl)
  return first?.key ?? null
}

/** What somebody who is about to try it wants to know. */
function facts(cluster: Cluster, program: string, settingsFile: string): string[] {
  const here = (path: string) => {
    const path_ = relative('', path)
    return path_.startsWith('..') ? path : path_
  }
  const { url, folder, nodes, postgres, standby, valkey } = cluster
  const cairn = (what: string) => `${here(program)} ${what} --config ${here(settingsFile)}`
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
    `  settings       ${settingsFile}, with the passwords, for the command line:`,
    `                 ${cairn('nodes')}`,
  ]
}

async function main(): Promise<void> {
  const asked = askedFor()
  const missing = missingPackages()
  if (missing.length > 0) {
    say(`this needs programs that are not here (Debian: apt install ${missing.join(' ')})`)
    process.exit(1)
  }
  const stop = Promise.withResolvers<void>()
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whatever still runs then ends with this process.
      if (isStopping) process.exit(1)
      say('stopping (once more ends it at once)')
      isStopping = true
      stop.resolve()
    })
  }
  const folder = asked.keep ? resolve(asked.keep) : mkdtempSync(join(tmpdir(), 'cairn-cluster-'))
  mkdirSync(folder, { recursive: true })
  let cluster: Cluster | null = null
  try {
    say('building where something has changed')
    const program = await builtBinary()
    say('starting PostgreSQL, its standby and Redis')
    cluster = await Cluster.open({ program, folder, isInEarnest: true })
    const settingsFile = join(folder, 'cairn.env')
    const settings = Object.entries({ ...cluster.env, CAIRN_DATA: join(folder, 'node-1') })
    const lines = settings.map(([name, value]) => `${name}=${value}\n`).join('')
    writeFileSync(settingsFile, lines, { mode: 0o600 })
    let key = await snippetKeyIn(cluster)
    if (key === null && !asked.isEmpty && !isStopping) {
      say('filling the database with the demo')
      await moveDemo(cluster, program)
      key = await snippetKeyIn(cluster)
    }
    if (isStopping) return
    say('starting the nodes')
    await cluster.serve(asked.nodes, {}, asked.port)
    cluster.supervise((name, how) => say(`${name} has ended (${how}), and is started again`))
    console.log(facts(cluster, program, settingsFile).join('\n'))
    if (key !== null) {
      const { url } = cluster
      const site = Bun.serve({
        ...{ hostname: '127.0.0.1', port: asked.sitePort },
        fetch: demoSite({ cairnUrl: url, snippetKey: key }),
      })
      const link = ['dashboard', 'link', '--role', 'operator', '--org', 'harbor', '--url', url]
      const made = JSON.parse(await cluster.succeeded([...link, '--json'])) as { url: string }
      console.log(
        [
          `  dashboard      ${made.url}`,
          '                 signs you in, once, within ten minutes',
          `  the site       http://127.0.0.1:${site.port}, where a tour begins`,
          `  snippet key    ${key}`,
        ].join('\n'),
      )
    }
    console.log('\nCtrl-C stops all of it')
    await stop.promise
  } finally {
    await cluster?.close()
    if (!asked.keep) rmSync(folder, { recursive: true, force: true })
  }
}

await main().catch(error => {
  say((error as Error).message)
  process.exit(1)
})
process.exit(0)
