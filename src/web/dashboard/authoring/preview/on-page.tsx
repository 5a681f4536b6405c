import { useSignal } from '@preact/signals'
import type { CreatedPreview, PreviewList } from '../../../../modules/tickets/schema.ts'
import { readAgain, useRead } from '../../api/read.ts'
import { act } from '../../api/request.ts'
import { may } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { openPage, PageAddressForm } from '../pick/page-address.tsx'

const previewsPath = '/manage/previews'

const hour = (time: string) =>
  new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

/** Asks for the page, and creates the link. */
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
    verb="Create link"
    onAddress={async url => {
      const made = await act<CreatedPreview>(previewsPath, { body: { flow: flowKey, url } })
      onMade(made)
      readAgain()
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

function Made({ link, expiresAt, oldSnippet, needsSnippet }: CreatedPreview) {
  return (
    <>
      <Code name="preview link">{link}</Code>
      <p class="hint">Works until {hour(expiresAt)}. Shown once.</p>
      {oldSnippet !== null && (
        <p class="problem">
          Your pages run snippet {oldSnippet}. Previews need {needsSnippet} or later.
        </p>
      )}
      <div class="dialog-end">
        <Button look="primary" onClick={() => openPage(link)}>
          Open page
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
      <ul class="listed">
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

/** A button that creates a link for seeing the draft on the real page. */
export function PreviewOnPage({ flowKey, isUnsaved }: { flowKey: string; isUnsaved: boolean }) {
  const isOpen = useSignal(false)
  const made = useSignal<CreatedPreview | null>(null)
  if (!may('flows:write')) return null
  const close = () => {
    isOpen.value = false
    made.value = null
  }
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>Preview on page</Button>
      {isOpen.value && (
        <Dialog title="Preview the draft on your page" onClose={close} class="pick">
          {made.value ? (
            <Made {...made.value} />
          ) : (
            <NewPreview {...{ flowKey, isUnsaved }} onMade={preview => (made.value = preview)} />
          )}
          <Working flowKey={flowKey} />
        </Dialog>
      )}
    </>
  )
}
