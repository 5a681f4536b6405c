import type { KeyList, RotatedKey } from '../../../modules/organisations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Code } from '../parts/code.tsx'
import { Opener } from '../parts/opener.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { Reading } from '../shell/states.tsx'
import { Rotate } from './rotate.tsx'

type Key = KeyList['keys'][number]

const columns: Column<Key>[] = [
  { name: 'Key', isTitle: true, cell: ({ key }) => <code>{key}</code> },
  {
    name: 'Created',
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: 'Valid until',
    cell: ({ worksUntil }) => worksUntil && momentHere(worksUntil),
  },
]

/** What happened to the previous key or secret. */
export const statusOf = (previousUntil: string) =>
  Date.parse(previousUntil) <= Date.now()
    ? 'The previous one no longer works.'
    : `The previous one is valid until ${momentHere(previousUntil)}.`

/** Shows the snippet key, and rotates it. */
export function KeysSection() {
  const keys = useRead<KeyList>('/manage/keys')
  return (
    <Reading of={keys}>
      {({ keys }) => {
        const current = keys.find(({ worksUntil }) => worksUntil === null)
        const older = keys.filter(({ worksUntil }) => worksUntil !== null)
        return (
          <>
            <h3>Current key</h3>
            {current && (
              <>
                <Code name="Current key">{current.key}</Code>
                <p class="hint">Created {momentHere(current.createdAt)}</p>
              </>
            )}
            <div class="row-actions">
              <Opener label="Rotate key">
                {close => (
                  <Rotate<RotatedKey>
                    path="/manage/keys/rotate"
                    title="Rotate the snippet key"
                    verb="Rotate key"
                    why="Creates a new key. Pages with the old key stop working when the grace period ends."
                    onRotated={({ previousUntil }) =>
                      say(`Key rotated. ${statusOf(previousUntil)}`)
                    }
                    onClose={close}
                  />
                )}
              </Opener>
            </div>
            <h3>Older keys that are still valid</h3>
            <Table
              caption="Older keys that are still valid"
              columns={columns}
              rows={older}
              keyOf={({ key }) => key}
              none="No older keys."
            />
          </>
        )
      }}
    </Reading>
  )
}
