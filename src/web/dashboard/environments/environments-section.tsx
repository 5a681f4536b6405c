import { useSignal } from '@preact/signals'
import type { EnvironmentsAnswer } from '../../../modules/environments/schema.ts'
import { useAction } from '../api/action.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { Table } from '../parts/table.tsx'
import { TextField } from '../parts/text-field.tsx'
import { addressOf } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { environmentWords } from '../words/environments.ts'
import { formatAge } from '../words/time.ts'
import { environmentsPath, useLinks } from './links.ts'

const words = environmentWords.settings

type Linked = EnvironmentsAnswer['staging'][number]

/** Links another organisation, by a token that proves that its owner agrees. */
function NewLink({ onLinked }: { onLinked: (name: string) => void }) {
  const typed = useSignal('')
  const { isBusy, refused, run } = useAction()
  const failure = refused.value
  const problem = failure
    ? failure.told.details?.[0]?.message || failure.message || words.failed
    : undefined
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
        label={words.token}
        hint={words.tokenHint}
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
          {words.link}
        </Button>
      </div>
    </form>
  )
}

/** The organisations that try flows for this one, or the one for which it does. */
export function EnvironmentsSection() {
  const links = useLinks()
  const said = useSignal<string | null>(null)
  const confirming = useSignal<Linked | null>(null)
  const unlink = (one: Linked) => (
    <Button
      look="danger"
      aria-label={words.unlinkNamed(one.name)}
      onClick={() => (confirming.value = one)}
    >
      {words.unlink}
    </Button>
  )
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={said} />
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
                <p class="hint">{words.none}</p>
              ) : (
                <>
                  <Table
                    caption={words.caption}
                    columns={[
                      {
                        name: words.name,
                        isTitle: true,
                        cell: ({ name }) => name,
                      },
                      {
                        name: words.linked,
                        cell: ({ linkedAt }) => formatAge(linkedAt),
                      },
                      { head: <span class="unseen">{words.unlink}</span>, name: '', cell: unlink },
                    ]}
                    rows={staging}
                    keyOf={({ id }) => id}
                  />
                  <p>
                    <LinkButton href={addressOf(['staging'])}>{environmentWords.title}</LinkButton>
                  </p>
                </>
              )}
              <NewLink onLinked={name => (said.value = words.made(name))} />
            </>
          )
        }
      </Reading>
      {confirming.value && (
        <Confirm
          title={words.unlinkTitle(confirming.value.name)}
          verb={words.unlink}
          isDanger
          act={async () => {
            const { id, name } = confirming.value!
            await act(`${environmentsPath}/${id}`, { method: 'DELETE' })
            said.value = words.unlinked(name)
            readAgain()
          }}
          onClose={() => (confirming.value = null)}
        >
          <p>{words.unlinkWhy}</p>
        </Confirm>
      )}
    </>
  )
}
