import { useSignal } from '@preact/signals'
import type { EnvironmentsAnswer } from '../../../modules/environments/schema.ts'
import { useAction } from '../api/action.ts'
import { explained } from '../api/explained.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatAge } from '../parts/format.ts'
import { actionsColumn, Table } from '../parts/table.tsx'
import { TextField } from '../parts/text-field.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { environmentsPath, useLinks } from './links.ts'

type Linked = EnvironmentsAnswer['staging'][number]

/** Links another organisation, by a token that proves that its owner agrees. */
function NewLink() {
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
      say(`Linked ${newest.name}.`)
      readAgain()
    })
  return (
    <form
      class="setting-form stack gap-3"
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

const Unlink = ({ from: { id, name } }: { from: Linked }) => (
  <ConfirmButton
    label="Unlink"
    name={`Unlink ${name}`}
    title={`Unlink ${name}?`}
    verb="Unlink"
    isDanger
    act={async () => {
      await act(`${environmentsPath}/${id}`, { method: 'DELETE' })
      say(`Unlinked ${name}.`)
      readAgain()
    }}
  >
    <p>Flows can no longer be promoted between them. Promoted flows stay.</p>
  </ConfirmButton>
)

/** The organisations that try flows for this one, or the one for which it does. */
export function EnvironmentsSection() {
  const links = useLinks()
  return (
    <Reading of={links}>
      {({ production, staging }) =>
        production ? (
          <div class="row-actions">
            <p>{`This organisation is the staging of ${production.name}.`}</p>
            <Unlink from={production} />
          </div>
        ) : (
          <div class="stack">
            {staging.length === 0 ? (
              <p class="hint">No staging organisation linked</p>
            ) : (
              <>
                <Table
                  caption="Staging organisations"
                  columns={[
                    { name: 'Organisation', isTitle: true, cell: ({ name }) => name },
                    { name: 'Linked', cell: ({ linkedAt }) => formatAge(linkedAt) },
                    actionsColumn<Linked>(one => <Unlink from={one} />),
                  ]}
                  rows={staging}
                  keyOf={({ id }) => id}
                />
                <p>
                  <LinkButton href={addressOf(['staging'])}>Staging</LinkButton>
                </p>
              </>
            )}
            <NewLink />
          </div>
        )
      }
    </Reading>
  )
}
