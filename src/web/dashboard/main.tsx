/**
 * What browsers load as the dashboard. To add a page:
 *
 * 1. A folder for the module that it is about, such as `installation/`, with `install-page.tsx`, whose
 *    default export takes `PageProps`. It begins with `<PageHead>`; a page of a flow is inside
 *    `<FlowFrame>`, which brings the flow, its head and its tabs.
 * 2. A line in `shell/routes.ts`: path, name, and where it is offered (navigation or tabs).
 * 3. Its words in `words/`, its data by `useRead` (polled, with its ETag and age) inside `<Reading>`,
 *    which shows every state; changes by `act`. Types come by `import type` from the module's
 *    `model.ts`. Filters live in the address: `useFilters`.
 * 4. Looks: `parts/` and the classes in `styles/`; colours are `--gray-1` to `--bad-12`.
 * 5. A test in `test/web/dashboard`, which opens it in each state.
 */
import { render } from 'preact'
import { watchAttention } from './api/attention.ts'
import { App } from './shell/app.tsx'
import './shell/settings.ts'

watchAttention()
render(<App />, document.getElementById('app')!)
