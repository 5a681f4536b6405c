import { useSignal } from '@preact/signals'
import type { CreatedPreview, PreviewList } from '../../../../modules/tickets/schema.ts'
import { useAction } from '../../api/action.ts'
import { readAgain, useRead } from '../../api/read.ts'
import { act } from '../../api/request.ts'
import { may } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { knownPage, openPage, PageAddressForm } from '../pick/page-address.tsx'

const previewsPath = '/manage/previews'

const hour = (time: string) =>
  new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

/** Creates a link to the draft on a page, and opens it. @throws Failure */
async function preview(flow: string, url: string): Promise<CreatedPreview> {
  const made = await act<CreatedPreview>(previewsPath, { body: { flow, url } })
  openPage(made.link)
  readAgain()
  return made
}

/** Asks for the page, and opens the draft there. */
const NewPreview = ({
  flowKey,
  isUnsaved,
  onMade,
}: {
  flowKey: string
  isUnsaved: boolean
  onMade: (made: CreatedPreview) => void
}) => (
  <PageAddressForm
    flowKey={flowKey}
    why="Anyone with the link sees the saved draft on this site, marked as a preview. Nothing is counted."
    verb="Open preview"
    onAddress={async url => {
      const made = await preview(flowKey, url)
      onMade(made)
      return made.url
    }}
  >
    {isUnsaved && (
      <p class="problem">
        Your last changes are not saved yet. The preview shows the draft without them.
      </p>
    )}
  </PageAddressForm>
)

function Made({
  of: { link, expiresAt, oldSnippet, needsSnippet },
  onOther,
}: {
  of: CreatedPreview
  onOther: () => void
}) {
  return (
    <>
      <Code name="preview link">{link}</Code>
      <p class="hint">
        Opened in a new tab. The link works until {hour(expiresAt)}, and is shown once.
      </p>
      {oldSnippet !== null && (
        <p class="problem">
          Your pages run snippet {oldSnippet}. Previews need {needsSnippet} or later.
        </p>
      )}
      <div class="dialog-end row end">
        <Button onClick={onOther}>Choose another page</Button>
        <Button look="primary" onClick={() => openPage(link)}>
          Open again
        </Button>
      </div>
    </>
  )
}

/** The links to this flow that still work, each with a way to end it. */
function Working({ flowKey }: { flowKey: string }) {
  const previews = useRead<PreviewList>(previewsPath).data?.previews ?? []
  const own = previews.filter(({ flow }) => flow === flowKey)
  if (own.length === 0) return null
  return (
    <section aria-label="Active links">
      <h3>Active links</h3>
      <ul class="stack gap-1">
        {own.map(({ id, madeBy, url, expiresAt }) => (
          <li key={id} class="row-actions">
            <span>{`${madeBy}, for ${url}, until ${hour(expiresAt)}`}</span>
            <Button
              look="danger"
              aria-label={`Revoke link of ${madeBy}`}
              onClick={() =>
                void act(`${previewsPath}/${id}`, { method: 'DELETE' }).then(readAgain, readAgain)
              }
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A button that opens the draft on the real page: on that of last time, else it asks for the page. */
export function PreviewOnPage({ flowKey, isUnsaved }: { flowKey: string; isUnsaved: boolean }) {
  const isOpen = useSignal(false)
  const made = useSignal<CreatedPreview | null>(null)
  const { isBusy, run } = useAction()
  if (!may('flows:write')) return null
  const open = () => {
    isOpen.value = true
    const url = knownPage(flowKey)
    if (url === null || isUnsaved) return
    void run(async () => {
      made.value = await preview(flowKey, url)
    })
  }
  const close = () => {
    isOpen.value = false
    made.value = null
  }
  return (
    <>
      <Button isBusy={isBusy.value} onClick={open}>
        Preview on page
      </Button>
      {isOpen.value && (
        <Dialog title="Preview the draft on your page" onClose={close} class="pick">
          {made.value ? (
            <Made of={made.value} onOther={() => (made.value = null)} />
          ) : (
            <NewPreview {...{ flowKey, isUnsaved }} onMade={preview => (made.value = preview)} />
          )}
          <Working flowKey={flowKey} />
        </Dialog>
      )}
    </>
  )
}
