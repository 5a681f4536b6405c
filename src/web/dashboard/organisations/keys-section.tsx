import type { KeyList, RotatedKey } from '../../../modules/organisations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useRead } from '../api/read.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Reading } from '../shell/states.tsx'
import { settingsWords } from '../words/settings.ts'
import { Rotate } from './rotate.tsx'
import { useChanging } from './saving.ts'

const words = settingsWords.keys
type Key = KeyList['keys'][number]

const columns: Column<Key>[] = [
  { name: words.key, isTitle: true, cell: ({ key }) => <code>{key}</code> },
  {
    name: settingsWords.made,
    cell: ({ createdAt }) => momentHere(createdAt),
  },
  {
    name: settingsWords.worksUntil,
    cell: ({ worksUntil }) => worksUntil && momentHere(worksUntil),
  },
]

/** What became of the key or secret that was current before. */
export const fateOf = (previousUntil: string) =>
  Date.parse(previousUntil) <= Date.now()
    ? settingsWords.ended
    : settingsWords.until(momentHere(previousUntil))

/** Shows the snippet key, and rotates it. */
export function KeysSection() {
  const keys = useRead<KeyList>('/manage/keys')
  const { said, asked } = useChanging<'rotate'>()
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={said} />
      <Reading of={keys}>
        {({ keys }) => {
          const current = keys.find(({ worksUntil }) => worksUntil === null)
          const older = keys.filter(({ worksUntil }) => worksUntil !== null)
          return (
            <>
              <h3>{words.current}</h3>
              {current && (
                <>
                  <Code name={words.current}>{current.key}</Code>
                  <p class="hint">
                    {settingsWords.made} {momentHere(current.createdAt)}
                  </p>
                </>
              )}
              <div class="row-actions">
                <Button onClick={() => (asked.value = 'rotate')}>{words.rotate}</Button>
              </div>
              <h3>{words.older}</h3>
              <Table
                caption={words.older}
                columns={columns}
                rows={older}
                keyOf={({ key }) => key}
                none={words.none}
              />
            </>
          )
        }}
      </Reading>
      {asked.value && (
        <Rotate<RotatedKey>
          path="/manage/keys/rotate"
          title={words.rotateTitle}
          verb={words.rotateVerb}
          why={words.rotateWhy}
          onRotated={({ previousUntil }) => {
            said.value = `${words.rotated} ${fateOf(previousUntil)}`
          }}
          onClose={() => (asked.value = null)}
        />
      )}
    </>
  )
}
