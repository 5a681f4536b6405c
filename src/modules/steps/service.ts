import { personOf } from '../../core/event/event.ts'
import { meantBy, type Step } from '../../core/flow/flow.ts'
import { type FlowEntry, latestVersion, type StepEntry } from '../../core/organisation/catalogue.ts'
import type { StepRef } from '../../core/reference.ts'
import { allowedFingerprint } from '../../core/step/fingerprint.ts'
import { healthWindowMs, type StepHealth, stepState } from '../../core/step/health.ts'
import { requireCleanText, versionIn } from '../../http/input.ts'
import type { StepBook, StepStores } from '../../storage/interfaces/steps.ts'
import type { FingerprintBody, HealthBody } from './schema.ts'

const definitionOf = (flow: FlowEntry, id: string): Step | undefined =>
  flow.latest?.steps.find(step => step.id === id)

/** The state of a step of the newest version, as of now. */
export async function healthOf(
  stores: { steps: Pick<StepBook, 'healthCounts'> },
  flow: FlowEntry,
  step: { id: string; ref: StepRef },
  now: number,
): Promise<StepHealth> {
  const version = latestVersion(flow) ?? 1
  const { ref } = flow.organisation
  const since = now - healthWindowMs
  const counts = await stores.steps.healthCounts(ref, step.ref, version, since)
  return stepState(counts, { required: definitionOf(flow, step.id)?.target?.required ?? true })
}

export function stepService({ stores }: { stores: StepStores }) {
  return {
    async reportHealth(step: StepEntry, body: HealthBody, receivedAt: number) {
      const { userId = null, anonymousId = null, url, selector, snippetVersion, message } = body
      requireCleanText({ userId, anonymousId, url, selector, snippetVersion, message })
      const isNamed = userId !== null || anonymousId !== null
      await stores.steps.recordHealth({
        orgRef: step.flow.organisation.ref,
        stepRef: step.ref,
        version: versionIn(body.flowVersion, step.flow),
        person: isNamed ? personOf(userId, anonymousId) : null,
        outcome: body.outcome,
        at: receivedAt,
        url: url ?? null,
        selector: selector ?? null,
        matchCount: body.matchCount ?? null,
        waitMs: body.waitMs == null ? null : Math.round(body.waitMs),
        snippetVersion: snippetVersion ?? null,
        message: message ?? null,
      })
      return healthOf(stores, step.flow, step, receivedAt)
    },

    async reportFingerprint(step: StepEntry, body: FingerprintBody, receivedAt: number) {
      const { url, locale, snippetVersion } = body
      requireCleanText({ url, locale, snippetVersion })
      const version = versionIn(body.flowVersion, step.flow)
      const definition = definitionOf(step.flow, step.id)
      return stores.steps.recordFingerprint({
        orgRef: step.flow.organisation.ref,
        stepRef: step.ref,
        version,
        isCurrent: version === latestVersion(step.flow),
        target: definition ? JSON.stringify(definition.target && meantBy(definition.target)) : null,
        fingerprint: body.fingerprint && allowedFingerprint(body.fingerprint),
        candidates: (body.candidates ?? []).map(candidate => allowedFingerprint(candidate)),
        at: receivedAt,
        url: url ?? null,
        locale: locale ?? null,
        snippetVersion: snippetVersion ?? null,
      })
    },
  }
}
