import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Erasure } from '../../../modules/people/schema.ts'
import { readAgain, useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { PageHead } from '../shell/page-head.tsx'
import { Notice, Reading } from '../shell/states.tsx'
import { AllowPerson, ErasePerson, Receipt } from './erase-person.tsx'
import { ExportPerson } from './export-person.tsx'
import { MetFlows } from './met-flows.tsx'
import { PeopleList } from './people-list.tsx'
import { type Person, type PersonHistory, personIn, personPath } from './person.ts'
import { PersonEvents } from './person-events.tsx'
import { Profile } from './profile.tsx'
import { UnmetFlows } from './unmet-flows.tsx'

/** Finding a person's events searches everything stored, so it is not done every few seconds. */
const everyMs = 60_000

const isUnseen = ({ profile, flows, events, next }: PersonHistory) =>
  profile === null && flows.length === 0 && events.length === 0 && next === null

const Unseen = ({ person, children }: { person: Person; children: ComponentChildren }) => (
  <Notice icon="person" title={`No data for ${person.id}`} actions={children}>
    Check the ID and its type. If the person was erased, their data is gone and new data is
    discarded.
  </Notice>
)

/** The person whom the address names: what they met, and what can be done for them. */
function PersonData({ person }: { person: Person }) {
  const history = useRead<PersonHistory>(personPath(person, '/history'), everyMs)
  const confirming = useSignal<'erase' | 'allow' | null>(null)
  const receipt = useSignal<Erasure | null>(null)
  const close = () => (confirming.value = null)
  const done = (what: string) => {
    say(what)
    readAgain()
  }
  const url = history.data?.profile?.pages[0]?.url ?? null
  const whyNot = (
    <LinkButton icon="explain" href={addressOf(['explain'], { [person.kind]: person.id, url })}>
      Troubleshoot
    </LinkButton>
  )
  const isKnown = history.data !== null && !isUnseen(history.data)
  return (
    <>
      <PageHead
        title={person.id}
        above={<a href={addressOf(['people'])}>People</a>}
        beside={
          <span class="hint">{person.kind === 'user' ? 'User ID' : 'Anonymous visitor'}</span>
        }
        actions={
          isKnown && (
            <>
              {whyNot}
              <ExportPerson person={person} />
              {may('people:erase') && (
                <Button look="danger" onClick={() => (confirming.value = 'erase')}>
                  Erase
                </Button>
              )}
            </>
          )
        }
      />
      {receipt.value && <Receipt of={receipt.value} />}
      <Reading of={history}>
        {read =>
          isUnseen(read) ? (
            <Unseen person={person}>
              {whyNot}
              {may('people:erase') && (
                <Button onClick={() => (confirming.value = 'allow')}>Lift erasure</Button>
              )}
            </Unseen>
          ) : (
            <>
              {read.profile && <Profile of={read.profile} />}
              <MetFlows flows={read.flows} />
              <UnmetFlows person={person} met={read.flows} url={url} />
              <PersonEvents person={person} history={read} />
            </>
          )
        }
      </Reading>
      {confirming.value === 'erase' && (
        <ErasePerson
          person={person}
          onClose={close}
          onErased={erased => {
            receipt.value = erased
            done(`${person.id} erased.`)
          }}
        />
      )}
      {confirming.value === 'allow' && (
        <AllowPerson
          person={person}
          onClose={close}
          onAllowed={() => done(`Erasure lifted. New data from ${person.id} is stored.`)}
        />
      )}
    </>
  )
}

/** Everyone, or the person whose ID the address has. */
export default function PersonPage() {
  const { filters } = useFilters()
  const person = personIn(filters)
  if (person) return <PersonData key={`${person.kind} ${person.id}`} person={person} />
  return (
    <>
      <PageHead title="People" />
      <PeopleList />
    </>
  )
}
