/** What browsers load as the dashboard. The manual says how to add a page (contribute.md). */
import { render } from 'preact'
import { watchAttention } from './api/attention.ts'
import { App } from './shell/app.tsx'
import './shell/settings.ts'

watchAttention()
render(<App />, document.getElementById('app')!)
