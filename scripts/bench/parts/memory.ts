import { Peak, peakRssMiBOf, rssMiBOf } from '../../support/process.ts'
import type { Bench, Figure } from '../bench.ts'
import { getAnalytics, type History, lastDays } from '../history.ts'
import { sendEvents } from '../load.ts'
import { newFolder, Program } from '../programs.ts'
import { cairn, createOrganisation, serve } from '../stores.ts'
import { batch, connections, people } from './ingest.ts'

/** Memory, disk, and how long a start takes. */
export async function memory(bench: Bench): Promise<void> {
  await bench.measure('memory', 'idle and under load', async () => {
    const [idle, peak] = await bench.inTurns(idleMiB, () => peakMiB(bench.effort.seconds * 3))
    return [
      { what: 'memory, idle', unit: 'MiB', cairn: idle!, goal: '≤ 80' },
      { what: `memory, peak under ${people.name}`, unit: 'MiB', cairn: peak!, goal: '≤ 300' },
    ]
  })
  await bench.measure('memory', 'with a long history', async () => {
    const history = await bench.history()
    const { name, bytesOfEvent } = history
    const [starts, restarts] = await bench.inTurns(
      () => startMs(history),
      () => startAfterKillMs(history),
    )
    return [
      { what: 'bytes on disk an event', unit: 'B', cairn: [bytesOfEvent], goal: '≤ 130' },
      { what: `start, ${name}`, unit: 'ms', cairn: starts!, goal: '≤ 250' },
      { what: 'start after SIGKILL at full load', unit: 'ms', cairn: restarts!, goal: '≤ 500' },
      ...(await ofExport(history)),
    ]
  })
}

async function idleMiB(): Promise<number> {
  const folder = newFolder()
  await createOrganisation(folder, 20)
  await using program = await Program.start({ folder, commands: [serve()] })
  await program.settled()
  return rssMiBOf(program.pid)
}

async function peakMiB(seconds: number): Promise<number> {
  await using program = await cairn.start(people.flows)
  await sendEvents(program, people, { seconds, connections })
  return peakRssMiBOf(program.pid)
}

async function startMs(history: History): Promise<number> {
  await using program = await history.start()
  await program.end()
  return program.startMs
}

async function startAfterKillMs(history: History): Promise<number> {
  await using program = await history.start()
  const sending = sendEvents(program, { batch, flow: 3 }, { seconds: 4, connections })
  await Bun.sleep(2_000)
  await program.end('SIGKILL')
  // Its last requests have failed.
  await sending.catch(() => undefined)
  return await startMs(history)
}

async function ofExport(history: History): Promise<Figure[]> {
  await using program = await history.start()
  await program.settled()
  const idle = rssMiBOf(program.pid)
  using peak = new Peak(() => rssMiBOf(program.pid))
  const startedAt = performance.now()
  const query = { ...lastDays(), rows: 'events' }
  const { body } = await getAnalytics(program, 'analytics/export.csv', query)
  let lines = 0
  for await (const chunk of body!) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  }
  const perMs = lines / (performance.now() - startedAt)
  const over = Math.max(0, peak.value - idle)
  await program.end()
  return [
    { what: 'memory of an export, over idle', unit: 'MiB', cairn: [over], goal: '≤ 64' },
    { what: 'export of events', unit: 'rows/s', cairn: [1_000 * perMs], goal: '≥ 300,000' },
  ]
}
