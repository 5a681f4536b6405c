import { FlowFrame } from '../flows/flow-frame.tsx'
import type { PageProps } from '../shell/routes.ts'

/** What became of a flow's runs. */
export default function ResultsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <p>{flow.name}</p>}</FlowFrame>
}
