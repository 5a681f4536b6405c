import { useSignal } from '@preact/signals'
import type { IdentityAnswer, RotatedSecret } from '../../../modules/organisations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Figure } from '../parts/figure.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import { ShownOnce } from '../parts/shown-once.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { ChangeMode, known, type Mode } from './identity-mode.tsx'
import { statusOf } from './keys-section.tsx'
import { Rotate } from './rotate.tsx'

type Secret = IdentityAnswer['secrets'][number]

const verdicts = [
  ['valid', 'Valid'],
  ['outdated', 'Previous secret'],
  ['invalid', 'Invalid'],
  ['missing', 'Missing'],
] as const

/** How many calls had a valid hash. */
function Counts({ last24h }: Pick<IdentityAnswer, 'last24h'>) {
  const all = verdicts.reduce((sum, [verdict]) => sum + last24h[verdict], 0)
  return (
    <>
      <h3>Calls with a user ID, last 24 hours</h3>
      {all === 0 ? (
        <p class="hint">No calls with a user ID in the last 24 hours.</p>
      ) : (
        <dl class="figures framed four">
          {verdicts.map(([verdict, name]) => (
            <Figure key={verdict} name={name} below={formatShare(last24h[verdict], all)}>
              {formatCount(last24h[verdict])}
            </Figure>
          ))}
        </dl>
      )}
    </>
  )
}

const columns: Column<Secret>[] = [
  {
    name: 'Secret',
    isTitle: true,
    cell: ({ worksUntil }) => (worksUntil === null ? 'Current' : 'Previous'),
  },
  {
    name: 'Created',
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: 'Valid until',
    cell: ({ worksUntil }) => (worksUntil === null ? '–' : momentHere(worksUntil)),
  },
]

/** Whether the server checks that people are who pages say they are. */
export function IdentitySection() {
  const identity = useRead<IdentityAnswer>('/manage/identity')
  const wanted = useSignal<'mode' | 'rotate' | null>(null)
  const made = useSignal<string | null>(null)
  const close = () => (wanted.value = null)
  return (
    <>
      <Reading of={identity}>
        {data => (
          <>
            <h3>Mode</h3>
            <p>
              <strong>{known(data.mode)[1]}.</strong> {known(data.mode)[2]}
            </p>
            <div class="row-actions">
              <Button onClick={() => (wanted.value = 'mode')}>Change mode</Button>
            </div>
            <Counts last24h={data.last24h} />
            {made.value && (
              <ShownOnce
                title="Copy your new secret now"
                name="Secret"
                secret={made.value}
                hint="Shown only once. Keep it in your back end, never in a page."
                onDone={() => (made.value = null)}
              />
            )}
            <h3>Valid secrets</h3>
            {data.secrets.length === 0 ? (
              <p class="hint">
                No secret yet. Cairn creates one when you turn on observe or enforce.
              </p>
            ) : (
              <>
                <Table
                  caption="Valid secrets"
                  columns={columns}
                  rows={data.secrets}
                  keyOf={({ createdAt }) => createdAt}
                />
                <div class="row-actions">
                  <Button onClick={() => (wanted.value = 'rotate')}>Rotate secret</Button>
                </div>
              </>
            )}
            {wanted.value === 'mode' && (
              <ChangeMode
                identity={data}
                onChanged={(mode: Mode, secret) => {
                  made.value = secret ?? made.value
                  say(`Saved. The mode is ${known(mode)[1].toLowerCase()}.`)
                }}
                onClose={close}
              />
            )}
          </>
        )}
      </Reading>
      {wanted.value === 'rotate' && (
        <Rotate<RotatedSecret>
          path="/manage/identity/rotate"
          title="Rotate the identity secret"
          verb="Rotate secret"
          why="Creates a new secret, shown once. Hashes of the old one stay valid until the grace period ends."
          onRotated={({ secret, previousUntil }) => {
            made.value = secret
            say(statusOf(previousUntil))
          }}
          onClose={close}
        />
      )}
    </>
  )
}
