import { error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Tokens end to the second, so a clock that differs more ends them early, or begins them late. */
const largestSkewMs = 5_000

/** Whether session tokens can be verified, which takes an answer of the identity provider. */
export async function checkTokens({ config }: Subject): Promise<Finding[]> {
  if (config === null) return []
  // Loaded here, so that no other command waits for it.
  const { checkIssuer } = await import('../../server/identity-provider.ts')
  const { ok: isWell, detail, fix = null, clockSkewMs = 0 } = await checkIssuer(config)
  if (!isWell) return [error('issuer', detail, fix)]
  const findings = [ok('issuer', detail)]
  if (Math.abs(clockSkewMs) > largestSkewMs) {
    const seconds = Math.round(Math.abs(clockSkewMs) / 1_000)
    const what = `the clock of this machine is ${seconds} s ${clockSkewMs > 0 ? 'behind' : 'ahead of'} the issuer's`
    findings.push(warning('clock', what, 'keep both set by NTP: session tokens end to the second'))
  }
  return findings
}
