import { useSignal } from '@preact/signals'
import type { IdentityAnswer, RotatedSecret } from '../../../modules/organisations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { formatCount, formatShare } from '../parts/format.ts'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { ChangeMode, known, type Mode } from './identity-mode.tsx'
import { statusOf } from './keys-section.tsx'
import { Rotate } from './rotate.tsx'

const words = {
  verdicts: {
    valid: 'Valid',
    outdated: 'Previous secret',
    invalid: 'Invalid',
    missing: 'Missing',
  },
}

type Verdict = keyof typeof words.verdicts
type Secret = IdentityAnswer['secrets'][number]

const verdicts = Object.keys(words.verdicts) as Verdict[]

/** How many calls had a valid hash. */
function Counts({ last24h }: Pick<IdentityAnswer, 'last24h'>) {
  const all = verdicts.reduce((sum, verdict) => sum + last24h[verdict], 0)
  return (
    <>
      <h3>Calls with a user ID, last 24 hours</h3>
      {all === 0 ? (
        <p class="hint">No calls with a user ID in the last 24 hours.</p>
      ) : (
        <dl class="figures framed four">
          {verdicts.map(verdict => (
            <div class="figure" key={verdict}>
              <dt>{words.verdicts[verdict]}</dt>
              <dd class="figure-value">{formatCount(last24h[verdict])}</dd>
              <dd class="soft">{formatShare(last24h[verdict], all)}</dd>
            </div>
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

/** The new secret, shown only while this section is open. */
const NewSecret = ({ secret }: { secret: string }) => (
  <div class="shown-once">
    <h3>Copy your new secret now</h3>
    <Code name="Secret">{secret}</Code>
    <p class="hint">Shown only once. Keep it in your back end, never in a page.</p>
  </div>
)

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
            {made.value && <NewSecret secret={made.value} />}
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
