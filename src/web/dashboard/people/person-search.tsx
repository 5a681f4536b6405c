import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Segments } from '../parts/choice.tsx'
import { useFilters } from '../shell/address.ts'
import { peopleWords as words } from '../words/people.ts'
import type { Person } from './person.ts'

/** Leads to a person by their id, which the address then has. */
export function PersonSearch({ person }: { person: Person | null }) {
  const { setFilters } = useFilters()
  const kind = useSignal<Person['kind']>(person?.kind ?? 'user')
  const typed = useSignal(person?.id ?? '')
  const problem = useSignal('')
  const submit = (event: Event) => {
    event.preventDefault()
    typed.value = typed.value.trim()
    problem.value = typed.value === '' ? words.idMissing : ''
    if (typed.value === '') return
    setFilters({ user: null, anonymous: null, [kind.value]: typed.value })
  }
  return (
    <search>
      <form class="person-search" onSubmit={submit}>
        <Segments
          label={words.idKind}
          options={[
            ['user', words.kinds.user],
            ['anonymous', words.kinds.anonymous],
          ]}
          value={kind.value}
          onChange={chosen => (kind.value = chosen)}
        />
        <input
          class="input search"
          type="search"
          maxLength={128}
          autocomplete="off"
          spellcheck={false}
          aria-label={words.findLabel[kind.value]}
          placeholder={words.findLabel[kind.value]}
          value={typed.value}
          onInput={event => (typed.value = event.currentTarget.value)}
        />
        <Button type="submit" icon="search">
          {words.find}
        </Button>
        <span class="problem" role="alert">
          {problem.value}
        </span>
      </form>
    </search>
  )
}
