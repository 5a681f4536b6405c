import { useSignal } from '@preact/signals'
import type { DeadLetterList, RetriedLetters } from '../../../modules/operations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatCount } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'

/** What to do, and with which dead letter: all of them if there is no id. */
interface Wanted {
  verb: 'retry' | 'drop'
  id?: number
}

async function carryOut({ verb, id }: Wanted): Promise<string> {
  const body = id === undefined ? { all: true } : { ids: [id] }
  const path = `/manage/dead-letters/${verb}`
  if (verb === 'drop') {
    return `${(await act<{ dropped: number }>(path, { body })).dropped} dropped.`
  }
  const { letters } = await act<RetriedLetters>(path, { body })
  const count = (wanted: string) => letters.filter(({ verdict }) => verdict === wanted).length
  return `${count('stored')} stored, ${count('duplicate')} stored before, ${count('refused')} rejected again.`
}

/** Events that the database rejected, and what to do with them. */
export function DeadLetters() {
  const list = useRead<DeadLetterList>('/manage/dead-letters')
  const wanted = useSignal<Wanted | null>(null)
  const want = (next: Wanted) => (wanted.value = next)
  const all = list.data?.count ?? 0
  const now = wanted.value
  const isDrop = now?.verb === 'drop'
  return (
    <Part
      title="Dead letters"
      beside={
        all > 0 && (
          <span class="row-actions">
            <Button onClick={() => want({ verb: 'retry' })}>Retry all</Button>
            <Button look="danger" onClick={() => want({ verb: 'drop' })}>
              Drop all
            </Button>
          </span>
        )
      }
    >
      <p class="hint">Events that the database could not store, oldest first.</p>
      <Reading of={list} lines={2}>
        {({ letters }) => (
          <>
            <Table
              caption="Dead letters"
              columns={[
                { name: 'Event', isTitle: true, cell: ({ kind }) => kind },
                { name: 'Organisation', cell: ({ organisation }) => organisation },
                { name: 'Reason', cell: ({ reason }) => reason },
                { name: 'Received', cell: ({ receivedAt }) => momentHere(receivedAt) },
                {
                  head: <span class="unseen">Actions</span>,
                  name: '',
                  cell: ({ id, kind }) => (
                    <span class="row-actions">
                      <Button
                        aria-label={`Retry ${kind}`}
                        onClick={() => want({ verb: 'retry', id })}
                      >
                        Retry
                      </Button>
                      <Button
                        look="danger"
                        aria-label={`Drop ${kind}`}
                        onClick={() => want({ verb: 'drop', id })}
                      >
                        Drop
                      </Button>
                    </span>
                  ),
                },
              ]}
              rows={letters}
              keyOf={({ id }) => id}
              none="No dead letters"
            />
            {letters.length < all && (
              <p class="footnote fine">
                First {letters.length} of {formatCount(all)}
              </p>
            )}
          </>
        )}
      </Reading>
      {now && (
        <Confirm
          title={isDrop ? 'Drop events' : 'Retry events'}
          verb={isDrop ? 'Drop events' : 'Retry events'}
          isDanger={isDrop}
          act={async () => {
            say(await carryOut(now))
            readAgain()
          }}
          onClose={() => (wanted.value = null)}
        >
          <p>
            {now.id === undefined ? `All ${formatCount(all)} events are ` : 'This event is '}
            {isDrop
              ? 'deleted. You cannot undo this.'
              : 'stored with the time of receipt. What is rejected again stays here.'}
          </p>
        </Confirm>
      )}
    </Part>
  )
}
