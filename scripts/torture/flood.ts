/**
 * A process of its own, so that flooding does not hold up measuring. It sends batches at a fixed pace,
 * whatever becomes of the earlier ones, and prints what became of them.
 */

/** What is sent, and how fast: batches of fifty events, named after the batch's number. */
export interface Pace {
  url: string
  snippetKey: string
  batchesPerSecond: number
  /** The beginning of its events' names. */
  prefix: string
}

/** Refusals and acknowledgements, by the wall clock. */
export interface FloodReport {
  sent: number
  /** The numbers of the acknowledged batches, and when each was acknowledged, epoch milliseconds. */
  acknowledged: [number: number, at: number][]
  /** When each batch that got a 503 was refused. */
  refused: number[]
  withoutRetryAfter: number
  /** Anything else: other statuses, broken connections. */
  others: Record<string, number>
}

export const eventsOfBatch = 50

export const nameOf = (prefix: string, batch: number, place: number) =>
  `${prefix}-${batch}-${place}`

/** A flood that goes on until it is stopped. */
export class Flood {
  private readonly child

  constructor(pace: Pace) {
    this.child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(pace)], {
      // Allows as many requests at once as the pace needs; Bun's own limit is 256.
      env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '20000' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
  }

  /** Resolves once everything that was sent is answered. */
  async stop(): Promise<FloodReport> {
    this.child.stdin.end()
    return (await new Response(this.child.stdout).json()) as FloodReport
  }
}

const tickMs = 10
const text = 'x'.repeat(150)

async function run({ url, snippetKey, batchesPerSecond, prefix }: Pace) {
  const report: FloodReport = {
    sent: 0,
    acknowledged: [],
    refused: [],
    withoutRetryAfter: 0,
    others: {},
  }
  const headers = { authorization: `Bearer ${snippetKey}`, 'content-type': 'application/json' }
  const send = async (batch: number) => {
    const events = Array.from(
      { length: eventsOfBatch },
      (_, i) =>
        `{"id":"${nameOf(prefix, batch, i)}","kind":"custom","name":"x","userId":"u${batch}","properties":{"text":"${text}"}}`,
    )
    const body = `{"events":[${events}]}`
    try {
      const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      if (response.status === 202) report.acknowledged.push([batch, Date.now()])
      else if (response.status === 503) {
        report.refused.push(Date.now())
        if (!response.headers.has('retry-after')) report.withoutRetryAfter++
      } else report.others[response.status] = (report.others[response.status] ?? 0) + 1
    } catch (error) {
      const { code = 'error' } = error as { code?: string }
      report.others[code] = (report.others[code] ?? 0) + 1
    }
  }
  let isOver = false
  Bun.stdin.text().then(() => {
    isOver = true
  })
  const startedAt = performance.now()
  const sending: Promise<void>[] = []
  while (!isOver) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * batchesPerSecond)
    while (report.sent < due) sending.push(send(report.sent++))
    await Bun.sleep(tickMs)
  }
  await Promise.all(sending)
  process.stdout.write(JSON.stringify(report))
}

if (import.meta.main) await run(JSON.parse(process.argv[2]!) as Pace)
