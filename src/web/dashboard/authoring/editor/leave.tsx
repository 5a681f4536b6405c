import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { editorWords as words } from '../../words/editor.ts'

/** The address within the dashboard that a click leads to; null if it leads nowhere else. */
function addressOfClick(event: MouseEvent): string | null {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) {
    return null
  }
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || link.hasAttribute('download') || link.target || link.origin !== location.origin) {
    return null
  }
  return link.pathname === location.pathname ? null : link.pathname + link.search
}

/** Asks before somebody leaves a page with unsaved work. */
export function Leave({ isKept }: { isKept: boolean }) {
  const { route } = useLocation()
  const to = useSignal<string | null>(null)
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const address = addressOfClick(event)
      if (address === null) return
      event.preventDefault()
      event.stopPropagation()
      to.value = address
    }
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('click', onClick, { capture: true })
    addEventListener('beforeunload', onUnload)
    return () => {
      removeEventListener('click', onClick, { capture: true })
      removeEventListener('beforeunload', onUnload)
    }
  }, [])
  if (to.value === null) return null
  const stay = () => (to.value = null)
  return (
    <Dialog title={words.leaveTitle} onClose={stay}>
      <p>{isKept ? words.leaveWhy : words.leaveWhyLost}</p>
      <div class="dialog-end">
        <Button onClick={stay}>{words.stay}</Button>
        <Button look="primary" onClick={() => route(to.value!)}>
          {words.leave}
        </Button>
      </div>
    </Dialog>
  )
}
