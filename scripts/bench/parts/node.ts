import { begin } from '../../report/progress.ts'
import type { Table } from '../../report/table.ts'
import type { Bench, Found } from '../bench.ts'
import { Cluster } from '../cluster.ts'
import { storedInPostgres } from '../count-stored.ts'
import { median, rounded } from '../figures.ts'
import type { Loaded } from '../load.ts'
import { batch, besideOther, type Mix, measure, people, runs, type Side } from './ingest.ts'
import { fastifyWithPostgres, prepareFastify } from './others.ts'

const part = 'node'

/** So many nodes of Cairn over one PostgreSQL. */
export const nodes = (count: number): Side => ({
  start: folder => Cluster.start(folder, count),
  path: '/api/v1/events',
  stored: storedInPostgres,
})

/** Ingest by nodes over PostgreSQL, compared with what others would use with the same PostgreSQL settings. */
export async function node(bench: Bench): Promise<Found> {
  try {
    prepareFastify()
  } catch (error) {
    begin(`${part} left out: ${(error as Error).message.split('\n')[0]}`)
    return { figures: [] }
  }
  const found = []
  for (const mix of [runs, people]) found.push(await ingest(bench, mix))
  return {
    figures: found.flatMap(({ figures }) => figures),
    tables: found.map(({ table }) => table),
  }
}

async function ingest(bench: Bench, mix: Mix) {
  const sides = {
    'Fastify and PostgreSQL': fastifyWithPostgres,
    'a node': nodes(1),
    'two nodes': nodes(2),
  }
  const loads = new Map<string, Loaded[]>()
  for (let round = 0; round < bench.effort.rounds; round++) {
    for (const [name, side] of Object.entries(sides)) {
      const of = loads.get(name) ?? []
      of.push(await measure(bench, side, mix))
      loads.set(name, of)
    }
  }
  const [fastify, one, two] = Object.keys(sides).map(name => loads.get(name)!)
  const what = `batches of ${batch}, ${mix.name}`
  const table: Table = {
    title: `CPU of an event, µs: ${what}`,
    header: ['', 'together', 'the server', 'PostgreSQL'],
    rows: [...loads].map(([name, of]) => {
      const whole = median(of.map(({ cpuMicros }) => cpuMicros / batch))
      const postgres = median(of.map(({ helperCpuMicros }) => helperCpuMicros / batch))
      return [name, ...[whole, whole - postgres, postgres].map(rounded)]
    }),
  }
  const figures = [
    ...besideOther(part, `a node, ${what}; beside Fastify and PostgreSQL`, one!, fastify!, {
      least: 1.3,
      most: 0.9,
    }),
    ...besideOther(part, `two nodes, ${what}; beside one`, two!, one!, { least: 1 }),
  ]
  return { figures, table }
}
