import { useSignal } from '@preact/signals'
import type { AlertSettings, WeeklyReport } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { session } from '../api/session.ts'
import { problemsAt } from '../organisations/saving.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { zoneName } from '../parts/format.ts'
import { Rejection } from '../parts/rejection.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { TextArea } from '../parts/text-field.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf } from '../shell/address.ts'
import { Reading } from '../shell/states.tsx'
import { Mails } from './deliveries.tsx'
import { confirmationsPath, save, settingsPath } from './saving.ts'

/** The weekly report: who gets it, and what was sent. */
export function ReportSection() {
  const settings = useRead<AlertSettings>(settingsPath)
  return (
    <>
      <Reading of={settings} lines={3}>
        {data => (
          <>
            <ReportForm settings={data} />
            <Recipients settings={data} />
          </>
        )}
      </Reading>
      <Mails />
    </>
  )
}

/** Who gets the weekly report. */
function ReportForm({ settings: { report, sendsMail } }: { settings: AlertSettings }) {
  const saving = useAction()
  const sending = useAction()
  const isOn = useSignal(report.on)
  const mails = useSignal(report.mails.join('\n'))
  const refused = saving.refused.value
  const zone = session.value?.timezone
  const list = () =>
    mails.value
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
  const [wrong] = problemsAt(refused, '/report/mails')
  return (
    <form
      class="setting-form stack gap-3"
      onSubmit={event => {
        event.preventDefault()
        saving.run(async () => {
          await save({ report: { on: isOn.value, mails: list() } })
          say('Saved.')
        })
      }}
    >
      <Check
        label="Send the weekly report"
        checked={isOn.value}
        onChange={checked => (isOn.value = checked)}
      />
      <TextArea
        label="Email addresses"
        hint={
          sendsMail
            ? 'One per line, up to 10. They get alerts too if you choose so under Alert rules. A new address has to confirm by a link first.'
            : 'Email is not set up. Ask the operator to set it up. Webhooks still get the report.'
        }
        problem={wrong && `${list()[Number(wrong.path.split('/')[3])] ?? ''}: ${wrong.message}`}
        isProblemOld
        value={mails.value}
        onChange={text => (mails.value = text)}
      />
      <p class="hint">
        {zone
          ? `Sent on Mondays at 08:00, ${zoneName(zone)} time.`
          : 'Sent on Mondays at 08:00 UTC, because no time zone is set.'}{' '}
        <a href={addressOf(['settings', 'general'])}>Change time zone</a>
      </p>
      <Rejection failure={wrong ? null : (refused ?? sending.refused.value)} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={saving.isBusy.value}>
          Save
        </Button>
        <Button
          isBusy={sending.isBusy.value}
          onClick={() =>
            sending.run(async () => {
              const body = { send: true }
              const { sentTo } = await act<WeeklyReport>('/manage/alerts/report', { body })
              say(
                sentTo === 0
                  ? 'Not sent: no webhook and no confirmed email address.'
                  : `Queued for ${sentTo} ${sentTo === 1 ? 'recipient' : 'recipients'}.`,
              )
              readAgain()
            })
          }
        >
          Send last week’s report now
        </Button>
      </div>
    </form>
  )
}

type Recipient = AlertSettings['report']['recipients'][number]

const consents = {
  waiting: ['warn', 'Waiting for confirmation'],
  confirmed: ['good', 'Confirmed'],
} as const

const columns = (resend: ((recipient: Recipient) => void) | null): Column<Recipient>[] => [
  { name: 'Address', isTitle: true, cell: ({ mail }) => mail },
  {
    name: 'Status',
    cell: ({ state, confirmationSentAt }) => (
      <>
        <Badge tone={consents[state][0]}>{consents[state][1]}</Badge>
        {state === 'waiting' && (
          <span class="row-note fine">
            {confirmationSentAt === null
              ? 'No link sent yet'
              : `Link sent ${momentHere(confirmationSentAt)}`}
          </span>
        )}
      </>
    ),
  },
  actionsColumn(recipient => {
    const verb = recipient.confirmationSentAt === null ? 'Send link' : 'Send again'
    return (
      resend &&
      recipient.state !== 'confirmed' && (
        <Button aria-label={`${verb} ${recipient.mail}`} onClick={() => resend(recipient)}>
          {verb}
        </Button>
      )
    )
  }),
]

/** Which mail addresses have confirmed that they want the report. */
function Recipients({ settings: { report, sendsMail } }: { settings: AlertSettings }) {
  const { refused, run } = useAction()
  const resend = ({ mail }: Recipient) =>
    run(async () => {
      await act(confirmationsPath, { body: { mail } })
      say(`Sent a link to ${mail}. It works for 7 days.`)
      readAgain()
    })
  if (report.recipients.length === 0) return null
  return (
    <>
      <h3>Recipients</h3>
      <Rejection failure={refused.value} />
      <Table
        caption="Recipients"
        columns={columns(sendsMail ? resend : null)}
        rows={report.recipients}
        keyOf={({ mail }) => mail}
      />
    </>
  )
}
