import { inspectValkey, LimitsUnusable } from '../../limits/valkey-inspection.ts'
import { limitsServerOf } from '../../runtime/limiter.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** A count that takes longer slows every request down noticeably, milliseconds. */
const slowMs = 20

/** The server that counts requests, if there is one. */
export async function checkLimits({ config }: Subject): Promise<Finding[]> {
  const server = config && limitsServerOf(config)
  if (server === null) return []
  try {
    const { place, what, tookMs } = await inspectValkey(server)
    const said = `limits are counted by ${what} at ${place}, in ${tookMs.toFixed(1)} ms`
    return [
      tookMs < slowMs
        ? ok('limits', said)
        : warning('limits', said, 'move it closer to this machine: each request waits for it'),
    ]
  } catch (fault) {
    if (!(fault instanceof LimitsUnusable)) throw fault
    return [error('limits', `the limits server at ${fault.what}`, fault.advice)]
  }
}
