import type { CreatedAuthorSession } from '../../../../modules/tickets/schema.ts'
import { act } from '../../api/request.ts'
import { pickWords as words } from '../../words/pick.ts'
import { openPage, PageAddressForm } from './page-address-form.tsx'

export const sessionsPath = '/manage/author-sessions'

/** Asks on which page the element can be seen. */
export const AddressForm = ({
  flowKey,
  stepKey,
  onBegun,
}: {
  flowKey: string
  stepKey: string
  onBegun: (session: CreatedAuthorSession) => void
}) => (
  <PageAddressForm
    flowKey={flowKey}
    stepKey={stepKey}
    words={words}
    verb={words.open}
    onAddress={async url => {
      const body = { flow: flowKey, step: stepKey, url }
      const session = await act<CreatedAuthorSession>(sessionsPath, { body })
      openPage(session.openAddress)
      onBegun(session)
      return session.url
    }}
  />
)
