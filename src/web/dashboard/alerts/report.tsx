import { type Signal, useSignal } from '@preact/signals'
import type { AlertSettings, WeeklyReport } from '../../../modules/alerts/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { useAction } from '../api/action.ts'
import { readAgain } from '../api/read.ts'
import { act } from '../api/request.ts'
import { session } from '../api/session.ts'
import { problemsAt } from '../organisations/saving.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf } from '../shell/address.ts'
import { alertWords as words } from '../words/alerts.ts'
import { Refused } from './refused.tsx'
import { confirmationsPath, save } from './saving.ts'

/** Who gets the weekly report. */
export function ReportForm({
  settings: { report, sendsMail },
  statusText,
}: {
  settings: AlertSettings
  statusText: Signal<string | null>
}) {
  const saving = useAction()
  const sending = useAction()
  const isOn = useSignal(report.on)
  const mails = useSignal(report.mails.join('\n'))
  const refused = saving.refused.value
  const list = () =>
    mails.value
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
  const [wrong] = problemsAt(refused, '/report/mails')
  return (
    <form
      class="setting-form"
      onSubmit={event => {
        event.preventDefault()
        saving.run(async () => {
          await save({ report: { on: isOn.value, mails: list() } })
          statusText.value = words.savedReport
        })
      }}
    >
      <Check
        label={words.reportOn}
        checked={isOn.value}
        onChange={checked => (isOn.value = checked)}
      />
      <Field
        label={words.mails}
        hint={sendsMail ? words.mailsHint : words.noMail}
        problem={wrong && `${list()[Number(wrong.path.split('/')[3])] ?? ''}: ${wrong.message}`}
      >
        {wiring => (
          <textarea
            {...wiring}
            class="input"
            rows={3}
            spellcheck={false}
            value={mails.value}
            onInput={event => (mails.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <p class="hint">
        {words.zone(session.value?.timezone ?? null)}{' '}
        <a href={addressOf(['settings', 'timezone'])}>{words.zoneLink}</a>
      </p>
      <Refused of={wrong ? null : (refused ?? sending.refused.value)} />
      <div class="row-actions">
        <Button type="submit" look="primary" isBusy={saving.isBusy.value}>
          {words.saveReport}
        </Button>
        <Button
          isBusy={sending.isBusy.value}
          onClick={() =>
            sending.run(async () => {
              const body = { send: true }
              const { sentTo } = await act<WeeklyReport>('/manage/alerts/report', { body })
              statusText.value = words.sent(sentTo)
              readAgain()
            })
          }
        >
          {words.sendNow}
        </Button>
      </div>
    </form>
  )
}

type Recipient = AlertSettings['report']['recipients'][number]

const tones = { waiting: 'warn', confirmed: 'good' } as const

const columns = (resend: ((recipient: Recipient) => void) | null): Column<Recipient>[] => [
  { name: words.address, isTitle: true, cell: ({ mail }) => mail },
  {
    name: words.state,
    cell: ({ state, confirmationSentAt }) => (
      <>
        <Badge tone={tones[state]}>{words.consent[state]}</Badge>
        {state === 'waiting' && (
          <span class="row-note">
            {confirmationSentAt === null
              ? words.noConfirmation
              : words.confirmationSent(momentHere(confirmationSentAt))}
          </span>
        )}
      </>
    ),
  },
  {
    head: <span class="unseen">{words.resend}</span>,
    name: '',
    cell: recipient => {
      const verb = recipient.confirmationSentAt === null ? words.send : words.resend
      return (
        <span class="row-actions">
          {resend && recipient.state !== 'confirmed' && (
            <Button aria-label={`${verb} ${recipient.mail}`} onClick={() => resend(recipient)}>
              {verb}
            </Button>
          )}
        </span>
      )
    },
  },
]

/** Which mail addresses have confirmed that they want the report. */
export function Recipients({
  settings: { report, sendsMail },
  statusText,
}: {
  settings: AlertSettings
  statusText: Signal<string | null>
}) {
  const { refused, run } = useAction()
  const resend = ({ mail }: Recipient) =>
    run(async () => {
      await act(confirmationsPath, { body: { mail } })
      statusText.value = words.resent(mail)
      readAgain()
    })
  if (report.recipients.length === 0) return null
  return (
    <>
      <h4>{words.recipients}</h4>
      <Refused of={refused.value} />
      <Table
        caption={words.recipients}
        columns={columns(sendsMail ? resend : null)}
        rows={report.recipients}
        keyOf={({ mail }) => mail}
      />
    </>
  )
}
