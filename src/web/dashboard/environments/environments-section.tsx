import { useSignal } from '@preact/signals'
import type { EnvironmentsAnswer } from '../../../modules/environments/schema.ts'
import { useAction } from '../api/action.ts'
import { explained } from '../api/explained.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatAge } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'
import { TextField } from '../parts/text-field.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { environmentsPath, useLinks } from './links.ts'

const words = {
  unlinkNamed: (name: string) => `Unlink ${name}`,
  tries: (name: string) => `This organisation is the staging of ${name}.`,
  made: (name: string) => `Linked ${name}.`,
  unlinkTitle: (name: string) => `Unlink ${name}?`,
  unlinked: (name: string) => `Unlinked ${name}.`,
}

type Linked = EnvironmentsAnswer['staging'][number]

/** Links another organisation, by a token that proves that its owner agrees. */
function NewLink({ onLinked }: { onLinked: (name: string) => void }) {
  const typed = useSignal('')
  const { isBusy, refused, run } = useAction()
  const failure = refused.value
  const problem = failure ? explained(failure) : undefined
  const link = () =>
    run(async () => {
      const body = { token: typed.value.trim() }
      const { staging } = await act<EnvironmentsAnswer>(environmentsPath, { body })
      const newest = staging.toSorted((a, b) => b.linkedAt.localeCompare(a.linkedAt))[0]!
      typed.value = ''
      onLinked(newest.name)
      readAgain()
    })
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        link()
      }}
    >
      <TextField
        label="Management token of the staging organisation"
        hint="Create one there that can change settings. Cairn uses it once and does not store it."
        problem={problem}
        value={typed.value}
        onChange={text => (typed.value = text)}
        type="password"
        autocomplete="off"
        maxLength={100}
      />
      <div class="row-actions">
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy.value}
          disabled={typed.value.trim() === ''}
        >
          Link organisation
        </Button>
      </div>
    </form>
  )
}

/** The organisations that try flows for this one, or the one for which it does. */
export function EnvironmentsSection() {
  const links = useLinks()
  const confirming = useSignal<Linked | null>(null)
  const unlink = (one: Linked) => (
    <Button
      look="danger"
      aria-label={words.unlinkNamed(one.name)}
      onClick={() => (confirming.value = one)}
    >
      Unlink
    </Button>
  )
  return (
    <>
      <Reading of={links}>
        {({ production, staging }) =>
          production ? (
            <div class="row-actions">
              <p>{words.tries(production.name)}</p>
              {unlink(production)}
            </div>
          ) : (
            <>
              {staging.length === 0 ? (
                <p class="hint">No staging organisation linked</p>
              ) : (
                <>
                  <Table
                    caption="Staging organisations"
                    columns={[
                      {
                        name: 'Organisation',
                        isTitle: true,
                        cell: ({ name }) => name,
                      },
                      {
                        name: 'Linked',
                        cell: ({ linkedAt }) => formatAge(linkedAt),
                      },
                      { head: <span class="unseen">Unlink</span>, name: '', cell: unlink },
                    ]}
                    rows={staging}
                    keyOf={({ id }) => id}
                  />
                  <p>
                    <LinkButton href={addressOf(['staging'])}>Staging</LinkButton>
                  </p>
                </>
              )}
              <NewLink onLinked={name => say(words.made(name))} />
            </>
          )
        }
      </Reading>
      {confirming.value && (
        <Confirm
          title={words.unlinkTitle(confirming.value.name)}
          verb="Unlink"
          isDanger
          act={async () => {
            const { id, name } = confirming.value!
            await act(`${environmentsPath}/${id}`, { method: 'DELETE' })
            say(words.unlinked(name))
            readAgain()
          }}
          onClose={() => (confirming.value = null)}
        >
          <p>Flows can no longer be promoted between them. Promoted flows stay.</p>
        </Confirm>
      )}
    </>
  )
}
