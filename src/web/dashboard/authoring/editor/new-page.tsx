import { useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf } from '../../shell/address.ts'
import { PageHead } from '../../shell/page-head.tsx'
import { Editing } from './editing.ts'
import { Workbench } from './workbench.tsx'

/** What a new flow begins with. */
const first = {
  key: 'my-tour',
  name: 'My tour',
  steps: [{ key: 'welcome', title: 'Welcome', body: 'Say in a sentence what this page is for.' }],
}

/** The page where a new flow is written. */
export default function NewPage() {
  const location = useLocation()
  const latest = useRef(location)
  latest.current = location
  const editing = useMemo(
    () =>
      new Editing(null, first, key => {
        const { route, query } = latest.current
        route(addressOf(['flows', key, 'edit'], { view: query.view }), true)
      }),
    [],
  )
  return (
    <>
      <PageHead title="New flow" above={<a href={addressOf(['flows'])}>Flows</a>} />
      <Workbench editing={editing} flowKey="" canWrite>
        <p class="lead below-4">
          Name the flow and add steps or items. Creating the draft shows it to no visitor.
        </p>
      </Workbench>
    </>
  )
}
