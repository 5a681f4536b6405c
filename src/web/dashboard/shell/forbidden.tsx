import { LinkButton } from '../parts/button.tsx'
import { shellWords } from '../words/shell.ts'
import { addressOf } from './address.ts'
import { PageHead } from './page-head.tsx'
import type { PageRoute } from './routes.ts'
import { Notice } from './states.tsx'

const words = shellWords.states

/** Shown in place of a page that the signed-in person is not offered: says why, and who can help. */
export function Forbidden({ route: { name, needs } }: { route: PageRoute }) {
  const isOperators = needs === 'operator'
  return (
    <>
      <PageHead title={name} />
      <Notice
        icon="key"
        title={isOperators ? words.operators : words.forbidden}
        isAlert
        actions={<LinkButton href={addressOf()}>{words.home}</LinkButton>}
      >
        {isOperators ? (
          <>
            {words.operatorsWhy} <code>{words.operatorsCommand}</code>
          </>
        ) : (
          words.forbiddenWhy
        )}
      </Notice>
    </>
  )
}
