import { refusedShare, type UserHashCounts } from '../core/organisation/verified-identity.ts'
import type { IdentityAnswer } from '../modules/organisations/model.ts'

/** The share of calls and events with a right hash, four decimals; null where there were none. */
export function coverageOf(counts: UserHashCounts): number | null {
  const { refused, all } = refusedShare(counts)
  // Rounded down, so that 1 means all of them.
  return all === 0 ? null : Math.floor(((all - refused) / all) * 10_000) / 10_000
}

/** What is to be done about calls that are refused, or would be. */
function remedyOf({ invalid, missing }: UserHashCounts): string {
  const remedies = [
    missing > 0 &&
      `${missing} had no userHash: give it to cairn.identify(userId, traits, userHash) on every page, and send it from back ends too`,
    invalid > 0 &&
      `${invalid} had a wrong one: lower-case hex of HMAC-SHA256, the secret as the key, over the very userId that is sent`,
  ]
  return remedies.filter(Boolean).join('; ')
}

/** What to do next about an organisation's verified identity, in one sentence. */
export function nextStep(slug: string, { mode, secrets }: IdentityAnswer, counts: UserHashCounts) {
  const command = (rest: string) => `"cairn org identity ${slug} ${rest}"`
  const { refused, all } = refusedShare(counts)
  const [, before] = secrets
  if (mode === 'off') return `count hashes before you require them: ${command('--mode observe')}`
  if (refused > 0) {
    const fate = mode === 'enforce' ? 'refused now' : 'which would be refused'
    const back =
      mode === 'enforce' ? `; ${command('--mode observe')} refuses nothing meanwhile` : ''
    return `of ${all} calls and events ${refused} had no right hash, ${fate}: ${remedyOf(counts)}${back}`
  }
  if (before && counts.outdated > 0) {
    return `${counts.outdated} hashes were made with the secret of before, which works until ${before.worksUntil}: give every back end the current one`
  }
  if (all === 0) {
    return 'have your back end make hashes with the secret, and pages give them to cairn.identify(userId, traits, userHash); then look here again'
  }
  return mode === 'observe'
    ? `all of ${all} had a right hash: once that covers a usual day, ${command('--mode enforce')}`
    : 'nothing is to be done'
}
