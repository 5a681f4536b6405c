import { useSignal } from '@preact/signals'
import type { IdentityAnswer, RotatedSecret } from '../../../modules/organisations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { formatCount, formatShare } from '../words/time.ts'
import { ChangeMode, type Mode } from './identity-mode.tsx'
import { fateOf } from './keys-section.tsx'
import { Rotate } from './rotate.tsx'
import { useChanging } from './saving.ts'

const words = settingsWords.identity
type Verdict = keyof typeof words.verdicts
type Secret = IdentityAnswer['secrets'][number]

const verdicts = Object.keys(words.verdicts) as Verdict[]

/** The number of calls that had the right hash. */
function Counts({ last24h }: Pick<IdentityAnswer, 'last24h'>) {
  const all = verdicts.reduce((sum, verdict) => sum + last24h[verdict], 0)
  return (
    <>
      <h3>{words.counts}</h3>
      {all === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <dl class="figures four">
          {verdicts.map(verdict => (
            <div class="figure" key={verdict}>
              <dt>{words.verdicts[verdict]}</dt>
              <dd class="figure-value">{formatCount(last24h[verdict])}</dd>
              <dd class="figure-below">{formatShare(last24h[verdict], all)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

const columns: Column<Secret>[] = [
  {
    name: words.secret,
    isTitle: true,
    cell: ({ worksUntil }) => (worksUntil === null ? words.isCurrent : words.before),
  },
  {
    name: settingsWords.made,
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: settingsWords.worksUntil,
    cell: ({ worksUntil }) => (worksUntil === null ? '–' : momentHere(worksUntil)),
  },
]

/** The new secret, shown only while this section is open. */
const NewSecret = ({ secret }: { secret: string }) => (
  <div class="shown-once">
    <h3>{words.shown}</h3>
    <Code name={words.secret}>{secret}</Code>
    <p class="hint">{words.shownWhy}</p>
  </div>
)

/** Whether the server checks that people are who pages say they are. */
export function IdentitySection() {
  const identity = useRead<IdentityAnswer>('/manage/identity')
  const { said, asked } = useChanging<'mode' | 'rotate'>()
  const made = useSignal<string | null>(null)
  const close = () => (asked.value = null)
  return (
    <>
      <p class="lead">{words.why}</p>
      <p>
        <a href={manual('verify-users')}>{words.manual}</a>
      </p>
      <StatusMessage of={said} />
      <Reading of={identity}>
        {data => (
          <>
            <h3>{words.mode}</h3>
            <p>
              <strong>{words.modes[data.mode][0]}</strong> {words.modes[data.mode][1]}
            </p>
            <div class="row-actions">
              <Button onClick={() => (asked.value = 'mode')}>{words.change}</Button>
            </div>
            <Counts last24h={data.last24h} />
            {made.value && <NewSecret secret={made.value} />}
            <h3>{words.secrets}</h3>
            {data.secrets.length === 0 ? (
              <p class="hint">{words.noSecret}</p>
            ) : (
              <>
                <Table
                  caption={words.secrets}
                  columns={columns}
                  rows={data.secrets}
                  keyOf={({ createdAt }) => createdAt}
                />
                <div class="row-actions">
                  <Button onClick={() => (asked.value = 'rotate')}>{words.rotate}</Button>
                </div>
              </>
            )}
            {asked.value === 'mode' && (
              <ChangeMode
                identity={data}
                onChanged={(mode: Mode, secret) => {
                  made.value = secret ?? made.value
                  said.value = words.saved(words.modes[mode][0].toLowerCase())
                }}
                onClose={close}
              />
            )}
          </>
        )}
      </Reading>
      {asked.value === 'rotate' && (
        <Rotate<RotatedSecret>
          path="/manage/identity/rotate"
          title={words.rotateTitle}
          verb={words.rotateVerb}
          why={words.rotateWhy}
          onRotated={({ secret, previousUntil }) => {
            made.value = secret
            said.value = fateOf(previousUntil)
          }}
          onClose={close}
        />
      )}
    </>
  )
}
