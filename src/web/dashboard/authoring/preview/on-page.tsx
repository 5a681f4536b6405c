import { useSignal } from '@preact/signals'
import type { CreatedPreview, PreviewList } from '../../../../modules/tickets/schema.ts'
import { readAgain, useRead } from '../../api/read.ts'
import { act } from '../../api/request.ts'
import { may } from '../../api/session.ts'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { pagePreviewWords as words } from '../../words/page-preview.ts'
import { openPage, PageAddressForm } from '../pick/page-address-form.tsx'

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
    words={words}
    verb={words.make}
    onAddress={async url => {
      const made = await act<CreatedPreview>(previewsPath, { body: { flow: flowKey, url } })
      onMade(made)
      readAgain()
      return made.url
    }}
  >
    {isUnsaved && <p class="problem">{words.unsaved}</p>}
  </PageAddressForm>
)

function Made({ link, expiresAt, oldSnippet, needsSnippet }: CreatedPreview) {
  return (
    <>
      <Code name={words.link}>{link}</Code>
      <p class="hint">{words.until(hour(expiresAt))}</p>
      {oldSnippet !== null && <p class="problem">{words.oldSnippet(oldSnippet, needsSnippet)}</p>}
      <div class="dialog-end">
        <Button look="primary" onClick={() => openPage(link)}>
          {words.openPage}
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
    <section aria-label={words.working}>
      <h3>{words.working}</h3>
      <ul class="listed">
        {own.map(({ id, madeBy, url, expiresAt }) => (
          <li key={id} class="row-actions">
            <span>{words.by(madeBy, url, hour(expiresAt))}</span>
            <Button
              look="danger"
              aria-label={words.endNamed(madeBy)}
              onClick={() =>
                void act(`${previewsPath}/${id}`, { method: 'DELETE' }).then(readAgain, readAgain)
              }
            >
              {words.end}
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
      <Button onClick={() => (isOpen.value = true)}>{words.open}</Button>
      {isOpen.value && (
        <Dialog title={words.title} onClose={close} class="pick">
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
