import { type Signal, useSignal } from '@preact/signals'
import type { WebhookJson, WebhookWithSecret } from '../../../modules/alerts/schema.ts'
import type { Failure } from '../api/failure.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { problemsAt } from '../organisations/saving.ts'
import { Check, Segments } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { TextField } from '../parts/text-field.tsx'
import { say } from '../parts/toast.tsx'
import { hostOf, webhookPath, webhooksPath } from './saving.ts'

const kinds = [
  ['all', 'All, including future types'],
  ['some', 'Only these types'],
] as const

const typeNames = {
  'step.broken': 'A step is broken',
  'step.recovered': 'A step was repaired',
  'completion.fell': 'Completion of a flow fell',
  'completion.recovered': 'Completion of a flow recovered',
  'score.low': 'A low NPS',
  'score.recovered': 'The NPS recovered',
  'install.stale': 'Snippet inactive',
  'install.recovered': 'Snippet active again',
  'dead_letters.found': 'Events were rejected',
  'dead_letters.cleared': 'No rejected events left',
  'report.weekly': 'Weekly report',
} satisfies Record<WebhookJson['types'][number], string>

type Types = WebhookJson['types']
type Type = Types[number]

/** What a webhook is sent, in a few words. */
export const typesOf = ({ types: { length } }: WebhookJson) =>
  length === 0 ? 'all message types' : length === 1 ? 'one message type' : `${length} message types`

/** What a webhook is sent: everything (null), or some types. */
function TypeChoice({ chosen }: { chosen: Signal<Types | null> }) {
  const { value } = chosen
  const toggle = (type: Type) =>
    (chosen.value = value!.includes(type) ? value!.filter(one => one !== type) : [...value!, type])
  return (
    <>
      <Segments
        label="Message types"
        options={kinds}
        value={value === null ? 'all' : 'some'}
        onChange={kind => (chosen.value = kind === 'all' ? null : [])}
      />
      {value !== null && (
        <fieldset class="choices stack gap-3">
          <legend>Message types</legend>
          {(Object.keys(typeNames) as Type[]).map(type => (
            <Check
              key={type}
              label={typeNames[type]}
              note={<code>{type}</code>}
              checked={value.includes(type)}
              onChange={() => toggle(type)}
            />
          ))}
        </fieldset>
      )}
    </>
  )
}

/** An empty list means everything. */
const useTypes = (types: Types) => useSignal<Types | null>(types.length === 0 ? null : types)
const isChosen = ({ value }: Signal<Types | null>) => value === null || value.length > 0

/** Asks for the address of a new webhook, and for what it is sent. */
export function NewWebhook({
  onMade,
  onClose,
}: {
  onMade: (made: WebhookWithSecret) => void
  onClose: () => void
}) {
  const url = useSignal('')
  const types = useTypes([])
  const refused = useSignal<Failure | null>(null)
  return (
    <Confirm
      title="Add webhook"
      verb="Add webhook"
      isReady={url.value.trim() !== '' && isChosen(types)}
      act={async () => {
        const body = { url: url.value.trim(), types: types.value ?? [] }
        onMade(await act<WebhookWithSecret>(webhooksPath, { body }))
        readAgain()
      }}
      onRefused={failure => (refused.value = failure)}
      showsItself={failure => problemsAt(failure, '/url').length > 0}
      onClose={onClose}
    >
      <TextField
        label="Address"
        hint="Starts with https://. Slack’s incoming webhooks work, too."
        problem={problemsAt(refused.value, '/url')[0]?.message}
        value={url.value}
        onChange={text => (url.value = text)}
        type="url"
        autocomplete="off"
      />
      <TypeChoice chosen={types} />
    </Confirm>
  )
}

/** Asks what a webhook is sent from now on. */
export function ChooseTypes({ of, onClose }: { of: WebhookJson; onClose: () => void }) {
  const types = useTypes(of.types)
  return (
    <Confirm
      title={`Message types for ${hostOf(of)}`}
      verb="Save"
      isReady={isChosen(types)}
      act={async () => {
        const body = { types: types.value ?? [] }
        const changed = await act<WebhookJson>(webhookPath(of), { method: 'PATCH', body })
        say(`${hostOf(changed)} now gets ${typesOf(changed)}.`)
        readAgain()
      }}
      onClose={onClose}
    >
      <TypeChoice chosen={types} />
    </Confirm>
  )
}
