import { join } from 'node:path'
import { begin } from '../../report/progress.ts'
import type { Bench, Found } from '../bench.ts'
import { storedByFloor, storedInPostgres } from '../count-stored.ts'
import { installFastify } from '../fastify/install.ts'
import type { Figure } from '../figures.ts'
import type { Loaded } from '../load.ts'
import { Postgres, postgresPrograms } from '../postgres.ts'
import { Program, rowsFile } from '../programs.ts'
import { batch, besideOther, cairn, measure, people, type Side } from './ingest.ts'

const part = 'others'

interface Rival {
  name: string
  /** Throws if it is not available. */
  prepare(): void
  side: Side
  goals: { least: number; most?: number }
}

/** @throws Error if Fastify or PostgreSQL is not available */
export function prepareFastify(): void {
  installFastify()
  postgresPrograms()
}

export const fastifyWithPostgres: Side = {
  async start(folder) {
    const program = join(installFastify(), 'postgresql.js')
    const postgres = await Postgres.start(folder)
    return Program.start(['node', program, postgres.url], folder, {}, postgres)
  },
  path: '/',
  stored: storedInPostgres,
}

/** What others would build in an afternoon, without any checks, and how far ahead of it Cairn should be. */
const rivals: Rival[] = [
  {
    name: 'Fastify and better-sqlite3',
    prepare: installFastify,
    side: {
      start: folder =>
        Program.start(
          ['node', join(installFastify(), 'sqlite.js'), join(folder.path, rowsFile)],
          folder,
        ),
      path: '/',
      stored: storedByFloor,
    },
    goals: { least: 2 },
  },
  {
    name: 'Fastify and PostgreSQL',
    prepare: prepareFastify,
    side: fastifyWithPostgres,
    goals: { least: 3.5, most: 0.28 },
  },
]

/** Ingest compared with what others would use in Cairn's place, as far as it is available here. */
export async function others(bench: Bench): Promise<Found> {
  const figures: Figure[] = []
  for (const { name, prepare, side, goals } of rivals) {
    try {
      prepare()
    } catch (error) {
      begin(`${name} left out: ${(error as Error).message.split('\n')[0]}`)
      continue
    }
    const ofCairn: Loaded[] = []
    const ofRival: Loaded[] = []
    for (let round = 0; round < bench.effort.rounds; round++) {
      ofRival.push(await measure(bench, side, people))
      ofCairn.push(await measure(bench, cairn, people))
    }
    const what = `batches of ${batch}, ${people.name}; beside ${name}`
    figures.push(...besideOther(part, what, ofCairn, ofRival, goals))
  }
  return { figures }
}
