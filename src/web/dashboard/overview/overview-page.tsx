import { PageHead } from '../shell/page-head.tsx'
import { overviewWords as words } from '../words/overview.ts'

/** What needs a person, and how all flows do. */
export default function OverviewPage() {
  return <PageHead title={words.title} />
}
