import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { may } from '../api/session.ts'
import { flowPath } from '../flows/definition.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { Part } from '../parts/part.tsx'
import { say } from '../parts/toast.tsx'
import type { Changing } from './publish.tsx'

const verbs = {
  unpublish: {
    name: 'Unpublish',
    why: 'Visitors stop seeing it on their next page. Versions and results are kept, and you can publish it again.',
    done: 'Unpublished.',
  },
  archive: {
    name: 'Archive',
    why: 'It leaves the list of flows. Versions and results are kept, and you can publish it again.',
    done: 'Archived.',
  },
} as const

/** Hides a flow from visitors, for now or for good. */
export function Withdraw({ flow }: Changing) {
  const { status, key } = flow
  const isLive = status === 'published'
  const offered = (['unpublish', 'archive'] as const).filter(verb =>
    verb === 'unpublish' ? isLive : status !== 'archived',
  )
  if (!may('flows:publish') || offered.length === 0) return null
  return (
    <Part
      id="withdraw"
      title="Stop using this flow"
      beside={
        <div class="actions">
          {offered.map(verb => (
            <ConfirmButton
              key={verb}
              label={verbs[verb].name}
              title={`${verbs[verb].name} this flow?`}
              verb={verbs[verb].name}
              isDanger
              act={async () => {
                await act(flowPath(key, `/${verb}`), { body: {} })
                say(verbs[verb].done)
                readAgain()
              }}
            >
              <p>
                {isLive && verb === 'archive' && 'Visitors stop seeing it on their next page. '}
                {verbs[verb].why}
              </p>
            </ConfirmButton>
          ))}
        </div>
      }
    />
  )
}
