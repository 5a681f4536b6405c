import { useSignal } from '@preact/signals'
import type { CreatedToken } from '../../../modules/access/schema.ts'
import type { Failure } from '../api/failure.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import type { Scope } from '../api/session.ts'
import { problemsAt } from '../organisations/saving.ts'
import { Check } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Select } from '../parts/select.tsx'
import { ShownOnce } from '../parts/shown-once.tsx'
import { TextField } from '../parts/text-field.tsx'

const scopeNames = {
  'flows:read': 'See flows, drafts and versions',
  'flows:write': 'Change drafts',
  'flows:publish': 'Publish, unpublish and roll back',
  'analytics:read': 'See results',
  'people:read': 'See people and what they saw',
  'people:erase': 'Erase people',
  'settings:write': 'Change settings, members, keys and tokens',
}

const scopes = Object.keys(scopeNames) as Scope[]
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['180', '180 days'],
  ['365', '1 year'],
] as const

/** A new token, which is shown only now. */
export const ShownToken = ({
  token: { name, token },
  onDone,
}: {
  token: CreatedToken
  onDone: () => void
}) => (
  <ShownOnce
    title="Copy your token now"
    name={name}
    secret={token}
    hint="It is shown only once."
    onDone={onDone}
  />
)

/** Asks for the name of a new token, what it may do, and how long it works. */
export function NewToken({
  name: givenName = '',
  scopes: givenScopes = [],
  onMade,
  onClose,
}: {
  name?: string
  scopes?: readonly Scope[]
  onMade: (token: CreatedToken) => void
  onClose: () => void
}) {
  const name = useSignal(givenName)
  const chosen = useSignal(givenScopes)
  const days = useSignal<string>('90')
  const refused = useSignal<Failure | null>(null)
  const toggle = (scope: Scope) => {
    chosen.value = scopes.filter(one => (one === scope) !== chosen.value.includes(one))
  }
  return (
    <Confirm
      title="Create management token"
      verb="Create token"
      isReady={name.value.trim() !== '' && chosen.value.length > 0}
      act={async () => {
        const body = {
          name: name.value.trim(),
          scopes: chosen.value,
          expiresInDays: Number(days.value),
        }
        onMade(await act<CreatedToken>('/manage/tokens', { body }))
        readAgain()
      }}
      onRefused={failure => (refused.value = failure)}
      showsItself={failure => problemsAt(failure, '/name').length > 0}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="What it is for. The audit log shows it."
        problem={problemsAt(refused.value, '/name')[0]?.message}
        value={name.value}
        onChange={text => (name.value = text)}
        autocomplete="off"
      />
      <fieldset class="choices stack gap-3">
        <legend>Scopes</legend>
        {scopes.map(scope => (
          <Check
            key={scope}
            label={scopeNames[scope]}
            note={<code>{scope}</code>}
            checked={chosen.value.includes(scope)}
            onChange={() => toggle(scope)}
          />
        ))}
      </fieldset>
      <Select
        label="Expires after"
        value={days.value}
        options={lifetimes}
        onChange={value => (days.value = value)}
      />
    </Confirm>
  )
}
