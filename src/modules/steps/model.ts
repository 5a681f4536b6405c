import { type Static, Type } from '@sinclair/typebox'
import { outcomes } from '../../core/step-health.ts'
import { Maybe, PersonFields } from '../../http/shapes.ts'

const Reported = {
  url: Maybe(Type.String({ maxLength: 2_048 })),
  flowVersion: Maybe(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  snippetVersion: Maybe(Type.String({ maxLength: 64 })),
}

/** Bounded here only in its whole; `allowedFingerprint` keeps what may be kept of it. */
const Fingerprint = Type.Object({ matchCount: Maybe(Type.Integer({ minimum: 0 })) })

export const FingerprintBody = Type.Object({
  fingerprint: Type.Union([Fingerprint, Type.Null()]),
  candidates: Maybe(Type.Array(Fingerprint, { maxItems: 20 })),
  locale: Maybe(Type.String({ maxLength: 64 })),
  viewport: Maybe(Type.Object({})),
  ...Reported,
})
export type FingerprintBody = Static<typeof FingerprintBody>

export const HealthBody = Type.Object({
  outcome: Type.Union(outcomes.map(outcome => Type.Literal(outcome))),
  ...PersonFields,
  selector: Maybe(Type.String({ maxLength: 1_000 })),
  matchCount: Maybe(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
  waitMs: Maybe(Type.Number({ minimum: 0, maximum: 86_400_000 })),
  message: Maybe(Type.String({ maxLength: 500 })),
  ...Reported,
})
export type HealthBody = Static<typeof HealthBody>
