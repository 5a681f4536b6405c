import { useSignal } from '@preact/signals'
import { type Bucket, buckets, defaultLimits } from '../../../core/organisation/limits.ts'
import type { Settings } from '../../../modules/organisations/schema.ts'
import type { Failure } from '../api/failure.ts'
import { may } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { NumberField } from '../parts/number-field.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { settingsWords } from '../words/settings.ts'
import { formatCount } from '../words/time.ts'
import { type Changing, problemsAt, save } from './saving.ts'
import { SettingSection } from './setting-section.tsx'

const words = settingsWords.limits

const columns = (
  settings: Settings,
  change: ((bucket: Bucket) => void) | null,
): Column<Bucket>[] => [
  {
    name: words.bucket,
    isTitle: true,
    cell: bucket => (
      <>
        <code>{bucket}</code>
        <span class="row-note">{words.buckets[bucket]}</span>
      </>
    ),
  },
  {
    name: words.usual,
    isNumber: true,
    cell: bucket => formatCount(defaultLimits[bucket]),
  },
  {
    name: words.now,
    isNumber: true,
    cell: bucket => (
      <span>
        {bucket in settings.overrides && (
          <>
            <Badge tone="accent">{words.set}</Badge>{' '}
          </>
        )}
        {formatCount(settings.limits[bucket])}
      </span>
    ),
  },
  ...(change
    ? [
        {
          head: <span class="unseen">{words.change}</span>,
          name: '',
          cell: (bucket: Bucket) => (
            <span class="row-actions">
              <Button aria-label={`${words.change} ${bucket}`} onClick={() => change(bucket)}>
                {words.change}
              </Button>
            </span>
          ),
        },
      ]
    : []),
]

/** Lets the operator set a limit, or return it to the default. */
function ChangeLimit({
  bucket,
  settings,
  said,
  asked,
}: { bucket: Bucket; settings: Settings } & Changing<Bucket>) {
  const wanted = useSignal<number | null>(settings.overrides[bucket] ?? null)
  const refused = useSignal<Failure | null>(null)
  const close = () => (asked.value = null)
  return (
    <Confirm
      title={words.changeTitle(bucket)}
      verb={words.verb}
      isReady={!Number.isNaN(wanted.value)}
      act={async () => {
        const { limits } = await save({ limits: { [bucket]: wanted.value } })
        said.value = words.saved(bucket, formatCount(limits[bucket]))
      }}
      onRefused={failure => (refused.value = failure)}
      onClose={close}
    >
      <p>{words.changeWhy(formatCount(defaultLimits[bucket]))}</p>
      <NumberField
        label={words.label}
        problem={problemsAt(refused.value, '/limits')[0]?.message}
        value={wanted.value}
        min={1}
        onChange={value => {
          wanted.value = value
          refused.value = null
        }}
      />
    </Confirm>
  )
}

/** The limits for the organisation's requests. */
export const LimitsSection = () => (
  <SettingSection<Bucket> why={words.why} lines={9}>
    {(settings, changing) => {
      const { asked } = changing
      const change = may('operator') ? (bucket: Bucket) => (asked.value = bucket) : null
      return (
        <>
          <Table
            caption={words.caption}
            columns={columns(settings, change)}
            rows={buckets}
            keyOf={bucket => bucket}
          />
          {!change && (
            <p class="footnote">
              {words.byOperator} <code>{words.command(settings.slug)}</code>
            </p>
          )}
          {asked.value && <ChangeLimit bucket={asked.value} settings={settings} {...changing} />}
        </>
      )
    }}
  </SettingSection>
)
