import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../shell/address.ts'
import { PageHead } from '../../shell/page-head.tsx'
import { firstText, editorWords as words } from '../../words/editor.ts'
import { flowWords } from '../../words/flows.ts'
import { Editing } from './editing.ts'
import { Workbench } from './workbench.tsx'

/** Where a flow begins. */
export default function NewPage() {
  const { route } = useLocation()
  const editing = useMemo(
    () => new Editing(null, null, firstText, key => route(addressOf(['flows', key, 'edit']), true)),
    [],
  )
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
