import { useSignal } from '@preact/signals'
import type { AlertSettings, WebhookList } from '../../../modules/alerts/schema.ts'
import { manual } from '../api/base.ts'
import { useRead } from '../api/read.ts'
import { StatusMessage } from '../parts/status-message.tsx'
import { useFilters } from '../shell/address.ts'
import { Missing, Reading } from '../shell/states.tsx'
import { alertWords as words } from '../words/alerts.ts'
import { Deliveries, Mails } from './deliveries.tsx'
import { Recipients, ReportForm } from './report.tsx'
import { RulesForm } from './rules.tsx'
import { settingsPath, webhooksPath } from './saving.ts'
import { Webhooks } from './webhooks.tsx'

/** What is watched and who is notified: rules, webhooks, the weekly report. */
export function AlertsSection() {
  const settings = useRead<AlertSettings>(settingsPath)
  const webhooks = useRead<WebhookList>(webhooksPath)
  const { filters } = useFilters()
  const statusText = useSignal<string | null>(null)
  const { webhook: chosen } = filters
  if (chosen !== undefined && chosen !== null) {
    return (
      <>
        <StatusMessage of={statusText} />
        <Reading of={webhooks} lines={4}>
          {({ webhooks }) => {
            const webhook = webhooks.find(({ id }) => id === chosen)
            return webhook ? <Deliveries of={webhook} statusText={statusText} /> : <Missing />
          }}
        </Reading>
      </>
    )
  }
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={statusText} />
      <h3>{words.rules}</h3>
      <Reading of={settings} lines={4}>
        {({ rules }) => <RulesForm rules={rules} statusText={statusText} />}
      </Reading>
      <h3>{words.webhooks}</h3>
      <p class="lead">{words.webhooksWhy}</p>
      <Reading of={webhooks} lines={2}>
        {data => <Webhooks of={data} statusText={statusText} />}
      </Reading>
      <p class="footnote">
        <a href={manual('alerts')}>{words.manual}</a>
      </p>
      <h3>{words.report}</h3>
      <p class="lead">{words.reportWhy}</p>
      <Reading of={settings} lines={3}>
        {data => (
          <>
            <ReportForm settings={data} statusText={statusText} />
            <Recipients settings={data} statusText={statusText} />
          </>
        )}
      </Reading>
      <Mails />
    </>
  )
}
