import { askedFor } from '../report/arguments.ts'
import { machine, machineText } from '../report/machine.ts'
import { begin } from '../report/progress.ts'
import { markdownOf, type Table } from '../report/table.ts'
import { Bench } from './bench.ts'
import { quickEffort, usualEffort } from './effort.ts'
import { type Figure, isMet, median, ratioOf, spread, tableOf } from './figures.ts'
import { type PartName, partNames, parts } from './plan.ts'

/** Measures Cairn's executable beside a floor in the same run; see `run`. */

const usage = `usage: scripts/bench/run [--only NAME]... [--quick] [--json]
       scripts/bench/run --guard

  --only NAME  measure one part: ${partNames.slice(0, 8).join(', ')},
               ${partNames.slice(8).join(', ')}; repeatable
  --quick      one short round of each: tells whether it works, and little more
  --json       print JSON in place of the tables
  --guard      only tell, in two minutes, whether ingest and reads are as fast as they have to be;
               exit status 1 if they are not

Each figure is the median of some rounds, in which Cairn and what stands beside it take turns: the
least program that could do the same (floor.ts, hello.ts) unless the line says otherwise. The part
"others" installs Fastify from npm, and starts PostgreSQL; it leaves out what cannot be had. Everything
is on in Cairn: credentials, limits, checks, projections, the log, and a sync before each answer.`

const { chosen, quick, json } = askedFor(usage, partNames, {
  quick: { type: 'boolean', default: false },
})
const effort = quick ? quickEffort : usualEffort
const figures: Figure[] = []
const tables: Table[] = []
const times: { part: PartName; seconds: number }[] = []
await using bench = new Bench(effort)
for (const part of chosen as PartName[]) {
  begin(`measuring ${part}`)
  const startedAt = performance.now()
  try {
    const found = await parts[part].measure(bench)
    figures.push(...found.figures)
    tables.push(...(found.tables ?? []))
  } catch (error) {
    // The results of the other parts are worth as much without this one.
    console.error(error)
    begin(`${part} has failed`)
    process.exitCode = 1
  }
  times.push({ part, seconds: (performance.now() - startedAt) / 1_000 })
}
console.log(json ? asJson() : asText())

function asJson(): string {
  const told = figures.map(figure => ({
    ...figure,
    median: median(figure.cairn),
    ratio: ratioOf(figure),
    spread: spread(figure.cairn),
    isMet: isMet(figure),
  }))
  return JSON.stringify({ machine: machine(), effort, figures: told, tables, times }, null, 2)
}

function asText(): string {
  const taken = times.map(({ part, seconds }) => {
    return [part, `${Math.round(seconds)} s`, quick ? '' : `${parts[part].seconds} s`]
  })
  const whole = times.reduce((sum, { seconds }) => sum + seconds, 0)
  const durations: Table = {
    title: `How long it took: ${(whole / 60).toFixed(1)} minutes`,
    header: ['part', 'took', 'planned'],
    rows: taken,
  }
  const all = [...tables, durations].flatMap(table => ['', ...markdownOf(table)])
  return [machineText(), '', ...tableOf(figures), ...all].join('\n')
}
