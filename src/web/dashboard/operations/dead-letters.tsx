import { useSignal } from '@preact/signals'
import type { DeadLetterList, RetriedLetters } from '../../../modules/operations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Part } from '../parts/part.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatCount } from '../words/time.ts'

type Letter = DeadLetterList['letters'][number]

/** What to do, and with which dead letter: all of them if there is no id. */
interface Asked {
  verb: 'retry' | 'drop'
  id?: number
}

const columns = (ask: (requested: Asked) => void): Column<Letter>[] => [
  {
    name: words.event,
    isTitle: true,
    cell: ({ kind, eventId }) => (
      <>
        {kind}
        {eventId && (
          <span class="row-note">
            <code>{eventId}</code>
          </span>
        )}
      </>
    ),
  },
  { name: words.organisation, cell: letter => letter.organisation },
  { name: words.reason, cell: ({ reason }) => reason },
  {
    name: words.received,
    cell: ({ receivedAt }) => momentHere(receivedAt),
  },
  {
    head: <span class="unseen">{words.retry}</span>,
    name: '',
    cell: ({ id, kind }) => (
      <span class="row-actions">
        <Button aria-label={`${words.retry} ${kind}`} onClick={() => ask({ verb: 'retry', id })}>
          {words.retry}
        </Button>
        <Button
          look="danger"
          aria-label={`${words.drop} ${kind}`}
          onClick={() => ask({ verb: 'drop', id })}
        >
          {words.drop}
        </Button>
      </span>
    ),
  },
]

async function carryOut({ verb, id }: Asked): Promise<string> {
  const body = id === undefined ? { all: true } : { ids: [id] }
  const path = `/manage/dead-letters/${verb}`
  if (verb === 'drop')
    return words.dropped((await act<{ dropped: number }>(path, { body })).dropped)
  const { letters } = await act<RetriedLetters>(path, { body })
  const count = (wanted: string) => letters.filter(({ verdict }) => verdict === wanted).length
  return words.retried(count('stored'), count('duplicate'), count('refused'))
}

/** The dead letters: what the database refused, and what to do with it. */
export function DeadLetters() {
  const list = useRead<DeadLetterList>('/manage/dead-letters')
  const said = useSignal<string | null>(null)
  const confirming = useSignal<Asked | null>(null)
  const ask = (wanted: Asked) => (confirming.value = wanted)
  const close = () => (confirming.value = null)
  const count = formatCount(list.data?.count ?? 0)
  return (
    <Part
      title={words.letters}
      beside={
        (list.data?.count ?? 0) > 0 && (
          <span class="row-actions">
            <Button onClick={() => ask({ verb: 'retry' })}>{words.retryAll}</Button>
            <Button look="danger" onClick={() => ask({ verb: 'drop' })}>
              {words.dropAll}
            </Button>
          </span>
        )
      }
    >
      <p class="hint">{words.lettersWhy}</p>
      <StatusMessage of={said} />
      <Reading of={list} lines={2}>
        {({ letters }) =>
          letters.length === 0 ? (
            <p>{words.noLetters}</p>
          ) : (
            <>
              <Table
                caption={words.lettersWhy}
                columns={columns(ask)}
                rows={letters}
                keyOf={({ id }) => id}
              />
              {letters.length < (list.data?.count ?? 0) && (
                <p class="footnote">{words.more(letters.length, count)}</p>
              )}
            </>
          )
        }
      </Reading>
      {confirming.value && (
        <Confirm
          title={confirming.value.verb === 'drop' ? words.dropTitle : words.retryTitle}
          verb={confirming.value.verb === 'drop' ? words.drop : words.retry}
          isDanger={confirming.value.verb === 'drop'}
          act={async () => {
            said.value = await carryOut(confirming.value!)
            readAgain()
          }}
          onClose={close}
        >
          <p>
            {words[confirming.value.verb === 'drop' ? 'dropWhy' : 'retryWhy'](
              confirming.value.id === undefined ? words.everyOne(count) : words.one,
            )}
          </p>
        </Confirm>
      )}
    </Part>
  )
}
