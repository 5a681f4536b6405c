import type { DeadLetterList, RetriedLetters } from '../../../modules/operations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatCount } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { actionsColumn, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'

/** Drops or retries one dead letter, or all of them if there is no id. */
async function carryOut(verb: 'retry' | 'drop', id?: number): Promise<string> {
  const body = id === undefined ? { all: true } : { ids: [id] }
  const path = `/manage/dead-letters/${verb}`
  if (verb === 'drop') {
    return `${(await act<{ dropped: number }>(path, { body })).dropped} dropped.`
  }
  const { letters } = await act<RetriedLetters>(path, { body })
  const count = (wanted: string) => letters.filter(({ verdict }) => verdict === wanted).length
  return `${count('stored')} stored, ${count('duplicate')} stored before, ${count('refused')} rejected again.`
}

function Actions({ what, of, id }: { what: string; of: string; id?: number }) {
  const labels = [
    ['retry', 'Retry', 'stored with the time of receipt. What is rejected again stays here.'],
    ['drop', 'Drop', 'deleted. You cannot undo this.'],
  ] as const
  return labels.map(([verb, name, means]) => (
    <ConfirmButton
      key={verb}
      label={id === undefined ? `${name} all` : name}
      name={`${name} ${what}`}
      title={`${name} events`}
      verb={`${name} events`}
      isDanger={verb === 'drop'}
      act={async () => {
        say(await carryOut(verb, id))
        readAgain()
      }}
    >
      <p>
        {of} {means}
      </p>
    </ConfirmButton>
  ))
}

/** Events that the database rejected, and what to do with them. */
export function DeadLetters() {
  const list = useRead<DeadLetterList>('/manage/dead-letters')
  const all = list.data?.count ?? 0
  return (
    <Part
      title="Dead letters"
      beside={
        all > 0 && (
          <span class="row-actions">
            <Actions what="all" of={`All ${formatCount(all)} events are`} />
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
                actionsColumn<DeadLetterList['letters'][number]>(({ id, kind }) => (
                  <Actions what={kind} of="This event is" id={id} />
                )),
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
    </Part>
  )
}
