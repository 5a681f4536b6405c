import { useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../shell/address.ts'
import { PageHead } from '../../shell/page-head.tsx'
import { firstText, editorWords as words } from '../../words/editor.ts'
import { flowWords } from '../../words/flows.ts'
import { Editing } from './editing.ts'
import { Workbench } from './workbench.tsx'

/** The page where a new flow is written. */
export default function NewPage() {
  const location = useLocation()
  const latest = useRef(location)
  latest.current = location
  const editing = useMemo(() => {
    const goOn = (key: string) => {
      const { route, query } = latest.current
      route(addressOf(['flows', key, 'edit'], { view: query.view }), true)
    }
    return new Editing(null, null, firstText, goOn)
  }, [])
  return (
    <>
      <PageHead
        title={flowWords.newFlow}
        above={<a href={addressOf(['flows'])}>{flowWords.title}</a>}
      />
      <Workbench editing={editing} canWrite>
        <p class="lead">{words.newWhy}</p>
      </Workbench>
    </>
  )
}
