import {
  type Bucket,
  buckets,
  defaultLimits,
  largestLimit,
} from '../../../core/organisation/limits.ts'
import { may } from '../api/session.ts'
import { formatCount } from '../parts/format.ts'
import { NumberField } from '../parts/number-field.tsx'
import { settingField } from './settings-form.tsx'

const limitLabels: Readonly<Record<Bucket, string>> = {
  events: 'Events',
  flows: 'Flows for a visitor',
  fingerprint: 'Element snapshots',
  health: 'Step health reports',
  heartbeat: 'Snippet activity',
  status: 'Installation status',
  analytics: 'Results',
  export: 'Results as CSV',
  manage: 'Dashboard and management API',
}

/** The rate limits, which only the operator changes. */
export const limits = buckets.map(bucket =>
  settingField<number | null>({
    name: 'limits',
    part: `/${bucket}`,
    label: limitLabels[bucket],
    read: ({ overrides }) => overrides[bucket] ?? null,
    patch: limit => ({ limits: { [bucket]: limit } }),
    control: ({ settings, ...props }) => (
      <NumberField
        {...props}
        unit="per minute"
        min={1}
        max={largestLimit}
        placeholder={formatCount(defaultLimits[bucket])}
        isDisabled={!may('operator')}
        hint={
          settings.overrides[bucket] !== undefined &&
          `Set by the operator. Default: ${formatCount(defaultLimits[bucket])}.`
        }
      />
    ),
  }),
)
