import { useSignal } from '@preact/signals'
import { readAgain } from '../../api/read.ts'
import { act } from '../../api/request.ts'
import { may } from '../../api/session.ts'
import { flowPath } from '../../flows/definition.ts'
import type { AuthoredFlow } from '../../flows/flow-list.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Opener } from '../../parts/opener.tsx'
import { editorWords as words } from '../../words/editor.ts'
import { EditorNotice } from './notices.tsx'

/** Copies a text. Over plain http there is no clipboard to write to. */
const copy = (text: string): Promise<boolean> =>
  Promise.resolve()
    .then(() => navigator.clipboard.writeText(text))
    .then(
      () => true,
      () => false,
    )

/** For a flow that is changed only in its repository: what to do there, and how to change it here anyway. */
export function Locked({ flow, text }: { flow: AuthoredFlow; text: string }) {
  const said = useSignal('')
  return (
    <EditorNotice
      title={words.locked}
      actions={
        <>
          <Button
            icon="copy"
            onClick={async () => {
              said.value = (await copy(text)) ? words.copied : words.copySelf
            }}
          >
            {words.copyYaml}
          </Button>
          {may('flows:write') && (
            <Opener label={words.unlock}>
              {close => (
                <Confirm
                  title={words.unlockTitle}
                  verb={words.unlock}
                  act={async () => {
                    await act(flowPath(flow.key, '/unlock'), { body: {} })
                    readAgain()
                  }}
                  onClose={close}
                >
                  <p>{words.unlockWhy}</p>
                </Confirm>
              )}
            </Opener>
          )}
        </>
      }
    >
      {flow.source && words.lockedWhy(flow.source.repository)}{' '}
      <span role="status">{said.value}</span>
    </EditorNotice>
  )
}
