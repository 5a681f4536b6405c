import { arch, cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { quickEffort, usualEffort } from './effort.ts'
import { type Figure, isMet, median, ratioOf, spread, tableOf } from './figures.ts'
import { answers, single } from './parts/answers.ts'
import { ingest } from './parts/ingest.ts'
import { limiter } from './parts/limiter.ts'
import { memory } from './parts/memory.ts'

/** Measures Cairn's executable beside a floor in the same run; see `run`. */

const parts = { ingest, single, answers, limiter, memory }

type PartName = keyof typeof parts

const names = Object.keys(parts) as PartName[]

const usage = `usage: scripts/bench/run [--only NAME]... [--quick] [--json]

  --only NAME  measure one part: ${names.join(', ')}; repeatable
  --quick      one short round of each: tells whether it works, and little more
  --json       print JSON in place of the table

Each figure is the median of some rounds, in which Cairn and its floor take turns; the floor is the
least program that could do the same (floor.ts, hello.ts). Everything is on in Cairn: credentials,
limits, checks, projections, the log, and a sync before each answer.`

/** What the figures were measured on. */
const machine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${arch()} ${release()}`,
  bun: Bun.version,
})

function readArguments() {
  try {
    const { values } = parseArgs({
      args: Bun.argv.slice(2),
      options: {
        only: { type: 'string', multiple: true },
        quick: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    const unknown = values.only?.find(name => !names.includes(name as PartName))
    if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`)
    return values
  } catch (error) {
    console.error(`cairn: ${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}

const { only = names, quick, json, help } = readArguments()
if (help) {
  console.log(usage)
  process.exit(0)
}
const effort = quick ? quickEffort : usualEffort
const figures: Figure[] = []
for (const name of only as PartName[]) {
  console.error(`cairn: measuring ${name}`)
  figures.push(...(await parts[name](effort)))
}
if (json) {
  const told = figures.map(figure => ({
    ...figure,
    median: median(figure.cairn),
    ratio: ratioOf(figure),
    spread: spread(figure.cairn),
    isMet: isMet(figure),
  }))
  console.log(JSON.stringify({ machine: machine(), effort, figures: told }, null, 2))
} else {
  const { processor, cores, memoryGiB, system, bun } = machine()
  console.log(`${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}, Bun ${bun}\n`)
  console.log(tableOf(figures).join('\n'))
}
