import { inspectValkey, LimitsUnusable } from '../../limits/valkey-inspection.ts'
import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** A count that takes longer is felt in each request, milliseconds. */
const slowMs = 20

/** The server that counts requests, where there is one. */
export async function checkLimits({ config }: Subject): Promise<Finding[]> {
  if (config === null || config.limitsUrl === null) return []
  try {
    const { place, what, tookMs } = await inspectValkey(config.limitsUrl)
    const said = `limits are counted by ${what} at ${place}, in ${tookMs.toFixed(1)} ms`
    return [
      tookMs < slowMs
        ? ok('limits', said)
        : warning('limits', said, 'put it nearer to this machine: each request waits for it'),
    ]
  } catch (fault) {
    if (!(fault instanceof LimitsUnusable)) throw fault
    const at = fault.message.indexOf(': ')
    return [
      error(
        'limits',
        `the server of the limits, ${fault.message.slice(0, at)}`,
        fault.message.slice(at + 2),
      ),
    ]
  }
}
