import { type RejectionCode, rejectionCodes } from '../core/event/event.ts'
import type { AppendOutcome } from '../core/event/stored-event.ts'
import type { EncodedBatch } from '../storage/ledger/event-text.ts'
import type { RetentionReport } from '../storage/retention/retention.ts'
import type { CommitReport } from '../storage/writer/writer.ts'
import { counterMemory, summed } from './counters.ts'
import type { Exposition } from './exposition.ts'
import { Histogram } from './histogram.ts'

/** `erased` is told to nobody else. */
const verdicts = ['accepted', 'duplicate', ...rejectionCodes, 'erased'] as const

type Verdict = (typeof verdicts)[number]

const latencies = new Histogram([
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
])

/** Events a commit; a group takes 5,000 and the rest of the batch that passes it. */
const sizes = new Histogram([1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000])

// In a row: a counter a verdict, one of faults, one of commands, one of deleted events and when the oldest
// was received, the two histograms.
const faultsAt = verdicts.length
const commandsAt = faultsAt + 1
const deletedAt = commandsAt + 1
const oldestAt = deletedAt + 1
const latencyAt = oldestAt + 1
const sizeAt = latencyAt + latencies.words
const words = sizeAt + sizes.words

/** Counts what the storage thread commits. */
export class CommitCounters {
  private readonly counters: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.counters = new Float64Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return counterMemory(words)
  }

  countCommit({ commands, events, durationMs }: CommitReport): void {
    this.add(commandsAt, commands)
    latencies.observe(this.counters, latencyAt, durationMs / 1_000)
    // Housekeeping has a transaction too, and no size.
    if (commands > 0) sizes.observe(this.counters, sizeAt, events)
  }

  /** How many events became what, once more for whoever counts them otherwise. */
  countVerdicts({ text, refusals }: EncodedBatch, outcome: AppendOutcome) {
    const { duplicates, deadLetters, erased } = outcome
    let rejected = deadLetters.length + erased.length
    const accepted = text.count - duplicates.length - rejected
    this.verdict('accepted', accepted)
    this.verdict('duplicate', duplicates.length)
    this.verdict('storage', deadLetters.length)
    this.verdict('erased', erased.length)
    for (const [code, count] of Object.entries(refusals)) {
      this.verdict(code as RejectionCode, count)
      rejected += count
    }
    return { accepted, duplicates: duplicates.length, rejected }
  }

  countRetained({ deleted, oldestAt: receivedAt }: RetentionReport): void {
    this.add(deletedAt, deleted)
    this.counters[oldestAt] = (receivedAt ?? 0) / 1_000
  }

  countFault(): void {
    this.add(faultsAt, 1)
  }

  private verdict(verdict: Verdict, count: number): void {
    this.add(verdicts.indexOf(verdict), count)
  }

  private add(at: number, count: number): void {
    ;(this.counters[at] as number) += count
  }
}

/** What the storage thread has counted, as metrics. */
export function renderCommits(page: Exposition, memory: SharedArrayBuffer): void {
  const counters = summed([memory], words)
  const at = (i: number) => counters[i] as number
  page.family('cairn_events_total', 'counter', 'Events of answered batches by what became of them.')
  for (const [i, verdict] of verdicts.entries()) {
    page.sample('cairn_events_total', at(i), { verdict })
  }
  page.single(
    'cairn_dead_letters_total',
    'counter',
    'Events that the database itself refused, set aside with the reason.',
    at(verdicts.indexOf('storage')),
  )
  page.single('cairn_commands_total', 'counter', 'Writes committed.', at(commandsAt))
  page.single(
    'cairn_storage_faults_total',
    'counter',
    'Times that storage began to refuse, or took a group of writes apart.',
    at(faultsAt),
  )
  page.single(
    'cairn_retention_deleted_events_total',
    'counter',
    'Raw events that were kept for as long as they had to be, and deleted.',
    at(deletedAt),
  )
  page.single(
    'cairn_oldest_event_timestamp_seconds',
    'gauge',
    'When the oldest raw event was received, Unix time, as the retention last saw it; 0 for none.',
    at(oldestAt),
  )
  page.family('cairn_commit_duration_seconds', 'histogram', 'Time of a group commit, synced.')
  latencies.render(page, 'cairn_commit_duration_seconds', counters, latencyAt)
  page.family('cairn_commit_events', 'histogram', 'Events a group commit.')
  sizes.render(page, 'cairn_commit_events', counters, sizeAt)
}
