import type { Bench, Found } from './bench.ts'
import { analytics } from './parts/analytics.ts'
import { answers } from './parts/answers.ts'
import { capacity } from './parts/capacity.ts'
import { engine } from './parts/engine.ts'
import { exports } from './parts/export.ts'
import { growth } from './parts/growth.ts'
import { ingest } from './parts/ingest.ts'
import { limiter } from './parts/limiter.ts'
import { management } from './parts/management.ts'
import { memory } from './parts/memory.ts'
import { node } from './parts/node.ts'
import { nodeStored } from './parts/node-stored.ts'
import { others } from './parts/others.ts'
import { single } from './parts/single.ts'
import { slow } from './parts/slow.ts'
import { disk, stored } from './parts/stored.ts'
import { threads } from './parts/threads.ts'

/** A part of the bench, and how many seconds it may take on two cores of its own. */
interface Part {
  measure(bench: Bench): Promise<Found>
  seconds: number
}

/** How long the whole bench may take. */
export const mostSeconds = 33 * 60

/** What is measured, in this order. */
export const parts = {
  ingest: { measure: ingest, seconds: 160 },
  others: { measure: others, seconds: 100 },
  node: { measure: node, seconds: 150 },
  'node-stored': { measure: nodeStored, seconds: 580 },
  single: { measure: single, seconds: 60 },
  answers: { measure: answers, seconds: 85 },
  limiter: { measure: limiter, seconds: 5 },
  engine: { measure: engine, seconds: 60 },
  memory: { measure: memory, seconds: 150 },
  threads: { measure: threads, seconds: 50 },
  slow: { measure: slow, seconds: 20 },
  management: { measure: management, seconds: 24 },
  // The first part that needs the long history stores it.
  stored: { measure: stored, seconds: 240 },
  disk: { measure: disk, seconds: 1 },
  analytics: { measure: analytics, seconds: 55 },
  export: { measure: exports, seconds: 65 },
  growth: { measure: growth, seconds: 110 },
  capacity: { measure: capacity, seconds: 30 },
} as const satisfies Record<string, Part>

export type PartName = keyof typeof parts

export const partNames = Object.keys(parts) as PartName[]
