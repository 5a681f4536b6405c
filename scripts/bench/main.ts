import { parseArgs } from 'node:util'
import { Bench } from './bench.ts'
import { guard } from './guard.ts'
import { answers } from './parts/answers.ts'
import { ingest } from './parts/ingest.ts'
import { memory } from './parts/memory.ts'
import { node } from './parts/node.ts'

const parts: Record<string, (bench: Bench) => Promise<void>> = { ingest, node, answers, memory }

const usage = `Measures Cairn beside the smallest programs that do the same.

Usage: scripts/bench/run [PART]... [--quick]
       scripts/bench/run --guard

  ingest   events a second and the CPU of each: beside a bare Bun.serve over SQLite (the
           floor), beside Fastify with PostgreSQL, and with 20 million events stored
  node     nodes over a log in PostgreSQL: the same beside Fastify with PostgreSQL, requests
           beside a server alone, bytes in the log, and the start of a new node
  answers  what pages request, beside a bare Elysia; how long pages wait while events come
           in; hostile requests; analytics of a million runs
  memory   memory idle, under load and during an export; bytes on disk; starts

  --quick  one short round over little data: shows that the bench works, in a few minutes.
           Its figures mean nothing
  --guard  exit status 1 if ingest or a response is slow beside its floor; two minutes, for CI

Without a PART it measures all four, in about 40 minutes and 20 GB of disk. Use a machine that
does nothing else. Cairn and the program beside it take turns, and a figure is the median of
three rounds. In Cairn everything is on: credentials, limits, checks, the log, a sync before each
response. A goal that is missed is no error.

Needs wrk; PostgreSQL, and Node.js with npm to install Fastify into dist.
What this machine lacks is left out.`

function readArguments() {
  try {
    const flag = { type: 'boolean', default: false } as const
    const options = { quick: flag, guard: flag, help: flag }
    const { values, positionals } = parseArgs({
      args: Bun.argv.slice(2),
      options,
      allowPositionals: true,
    })
    const unknown = positionals.find(name => !Object.hasOwn(parts, name))
    if (unknown !== undefined) throw new Error(`There is no part "${unknown}".`)
    return { ...values, names: positionals.length > 0 ? positionals : Object.keys(parts) }
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${usage}`, 2)
  }
}

function fail(message: string, status: number): never {
  console.error(`cairn: ${message}`)
  process.exit(status)
}

const { names, quick, guard: isGuard, help } = readArguments()
if (help) {
  console.log(usage)
  process.exit()
}
if (!Bun.which('wrk')) fail('wrk, which sends the requests, is missing: apt-get install wrk', 1)
await Bun.$`${process.execPath} scripts/build.ts`.quiet()
if (isGuard) await guard()
else {
  const bench = new Bench(
    quick
      ? { rounds: 1, seconds: 1, storedRuns: 10_000 }
      : { rounds: 3, seconds: 3, storedRuns: 1_000_000 },
  )
  for (const name of names) await parts[name]!(bench)
  console.log(bench.table())
}
