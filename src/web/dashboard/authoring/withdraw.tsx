import { useSignal } from '@preact/signals'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Part } from '../parts/part.tsx'
import { versionWords as words } from '../words/versions.ts'
import type { Changing } from './draft-section.tsx'

const verbs = {
  unpublish: {
    name: words.unpublish,
    title: words.unpublishTitle,
    why: words.unpublishWhy,
    done: words.unpublished,
  },
  archive: {
    name: words.archive,
    title: words.archiveTitle,
    why: words.archiveWhy,
    done: words.archived,
  },
} as const

/** Hides a flow from visitors, for now or for good. */
export function Withdraw({ flow, said }: Changing) {
  const confirming = useSignal<keyof typeof verbs | null>(null)
  const close = () => (confirming.value = null)
  const { status, key } = flow
  const isLive = status === 'published'
  const offered = (['unpublish', 'archive'] as const).filter(verb =>
    verb === 'unpublish' ? isLive : status !== 'archived',
  )
  if (!may('flows:publish') || offered.length === 0) return null
  const verb = confirming.value
  return (
    <Part
      id="withdraw"
      title={isLive ? words.takeAway : words.putAway}
      beside={
        <div class="actions">
          {offered.map(one => (
            <Button key={one} look="danger" onClick={() => (confirming.value = one)}>
              {verbs[one].name}
            </Button>
          ))}
        </div>
      }
    >
      {verb && (
        <Confirm
          title={verbs[verb].title}
          verb={verbs[verb].name}
          isDanger
          act={async () => {
            await act(flowPath(key, `/${verb}`), { body: {} })
            said.value = verbs[verb].done
            readAgain()
          }}
          onClose={close}
        >
          <p>{isLive ? verbs[verb].why : words.archiveUnseenWhy}</p>
        </Confirm>
      )}
    </Part>
  )
}
