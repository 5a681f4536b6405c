import { readAgain } from '../../api/read.ts'
import { act } from '../../api/request.ts'
import { may } from '../../api/session.ts'
import { flowPath } from '../../flows/definition.ts'
import type { AuthoredFlow } from '../../flows/flow-list.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Opener } from '../../parts/opener.tsx'

/** For a flow that is changed in its repository: where, and how to change it here anyway. */
export const Locked = ({ flow }: { flow: AuthoredFlow }) => (
  <section class="banner accent">
    <Icon name="info" />
    <div>
      <strong>This flow is managed in a repository.</strong>{' '}
      {flow.source &&
        `It was pushed from ${flow.source.repository}. Change it there and push it again.`}
    </div>
    {may('flows:write') && (
      <Opener label="Unlock">
        {close => (
          <Confirm
            title="Unlock this flow?"
            verb="Unlock"
            act={async () => {
              await act(flowPath(flow.key, '/unlock'), { body: {} })
              readAgain()
            }}
            onClose={close}
          >
            <p>
              The next push from the repository overwrites changes made here, and can lock the flow
              again. The audit log records who unlocked it.
            </p>
          </Confirm>
        )}
      </Opener>
    )}
  </section>
)
