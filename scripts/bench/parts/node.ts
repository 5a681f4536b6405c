import { type Bench, compared } from '../bench.ts'
import { fastify, nodes } from '../stores.ts'
import { batch, ingestOf, oneFlow, people } from './ingest.ts'

/** The same events for one and two nodes over PostgreSQL, beside Fastify with PostgreSQL. */
export async function node(bench: Bench): Promise<void> {
  for (const mix of [oneFlow, people]) {
    await bench.measure('node', mix.name, async () => {
      const [besides, one, two] = await bench.inTurns(
        () => ingestOf(bench.effort, fastify, mix),
        () => ingestOf(bench.effort, nodes(1), mix),
        () => ingestOf(bench.effort, nodes(2), mix),
      )
      const perEvent = besides!.map(load => load.postgresCpuMicros / batch)
      const ofOne = one!.map(load => load.postgresCpuMicros / batch)
      const beside = `a node, ${mix.name}; beside ${fastify.name}`
      return [
        ...compared(beside, [one, besides], batch, { rate: '≥ 1.2 ×', cpu: '≤ 0.75 ×' }),
        { what: 'of it PostgreSQL’s', unit: 'µs/event', cairn: ofOne, beside: perEvent },
        ...compared(`two nodes, ${mix.name}; beside one`, [two, one], batch, { rate: '≥ 1 ×' }),
      ]
    })
  }
}
